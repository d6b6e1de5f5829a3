import { decideDeadLetter, type DecisionResult } from '../database/decide-dead-letter.ts';
import { findOpenDeadLetter } from '../database/find-open-dead-letter.ts';
import type { DeadLetterChoice } from '../domain/dead-letter-choices.ts';
import type { Dependencies } from './dependencies.ts';

/** As `decideUpdate` of the workflows takes it. */
export interface DecideInput {
  readonly action: DeadLetterChoice;
  readonly note: string;
  readonly by: string;
  readonly outcome?: 'succeeded' | 'failed';
  readonly gateway_id?: string;
  readonly dead_letter_id?: string;
}

/** Records a decision about what a workflow waits for, by the same statement as the HTTP API (F5). */
export function createDecide(deps: Dependencies) {
  return async function decide(workflowId: string, input: DecideInput): Promise<DecisionResult> {
    const deadLetterId = input.dead_letter_id ?? (await findOpenDeadLetter(deps.pool, workflowId));
    if (deadLetterId === null) return { result: 'not_found' };
    const decision = {
      ...{ deadLetterId, action: input.action, note: input.note, by: input.by },
      ...{ outcome: input.outcome ?? null, gatewayId: input.gateway_id ?? null },
    };
    const result = await decideDeadLetter(deps.pool, decision, deps.policies);
    deps.wakeRelay();
    return result;
  };
}
