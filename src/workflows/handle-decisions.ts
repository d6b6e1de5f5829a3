import { ApplicationFailure, CancellationScope, setHandler, workflowInfo } from '@temporalio/workflow';
import { decideUpdate, type DecideInput } from './messages.ts';
import { quickly } from './quickly.ts';

const ACTIONS: readonly string[] = ['retry', 'resolve', 'give_up', 'refund', 'accept'];

/**
 * Lets another service decide by a Temporal update; what is decided stands in PostgreSQL before the answer goes out.
 *
 * @param onAnswer after each decision, whatever came of it: the workflow looks again, and lets the answer leave before it ends
 */
export function handleDecisions(onAnswer: () => void): void {
  setHandler(
    decideUpdate,
    async (input) => {
      // A run that somebody cancelled still waits for this: handlers are of the scope that is cancelled.
      const result = await CancellationScope.nonCancellable(() =>
        quickly((activities) => activities.decide(workflowInfo().workflowId, input)),
      );
      onAnswer();
      return result;
    },
    { validator: refuseUnclear },
  );
}

/** Refused before anything is written into the history. */
function refuseUnclear(input: DecideInput | undefined): void {
  const text = (value: unknown) => typeof value === 'string' && value.trim() !== '';
  if (!text(input?.by) || !text(input?.note) || !ACTIONS.includes(input?.action ?? '')) {
    throw ApplicationFailure.nonRetryable(
      `A decision needs action (${ACTIONS.join(', ')}), note (why) and by (who).`,
      'InvalidDecision',
    );
  }
}
