import { decideDeadLetter as decide } from '../../database/decide-dead-letter.ts';
import { type DeadLetterView, readDeadLetter } from '../../database/list-dead-letters.ts';
import { readEvent } from '../../database/read-event.ts';
import { Problem } from '../../domain/problem.ts';
import { startRequested } from '../../relay/start-requested.ts';
import type { ApiDeps } from '../deps.ts';
import { findDeadLetter } from '../find-dead-letter.ts';
import { defineRoute, json } from '../route.ts';
import { deadLetter, decision } from '../schemas/operations.ts';
import { understandAnew } from '../understand-anew.ts';
import { within } from '../within.ts';

/** Telling the workflow at once is only quicker: the outbox row tells it as well. */
const TELL_WITHIN_MS = 1_000;

export const decideDeadLetter = defineRoute({
  method: 'POST',
  path: '/v1/dead-letters/{id}/decide',
  scope: 'ops:write',
  summary: 'Decide about a dead letter, with one of its choices; who and why is kept.',
  body: decision,
  answers: { 200: { description: 'The dead letter, decided.', schema: deadLetter } },
  problems: ['not_found', 'already_decided', 'decision_not_possible'],
  async handle(deps, { params, rawParams, body, client }) {
    const { id } = await findDeadLetter(deps, params.id, rawParams.id);
    const { action, note } = body;
    const decided = await decide(
      deps.pool,
      {
        ...{ deadLetterId: id, action, note, by: client },
        ...{ outcome: body.outcome ?? null, gatewayId: body.gateway_id ?? null },
      },
      deps.policies,
    );
    switch (decided.result) {
      case 'not_found':
        throw new Problem('not_found', 'There is no dead letter of this id.');
      case 'already_decided':
        throw new Problem('already_decided', 'Somebody has decided this, or it came right by itself.');
      case 'not_possible':
        throw new Problem('decision_not_possible', decided.reason);
      case 'decided':
    }
    const row = await readDeadLetter(deps.pool, id);
    if (row?.kind === 'event_unreadable' && action === 'retry') await readAtOnce(deps, row);
    deps.wakeRelays();
    await tell(deps, id, row?.workflow_id ?? null);
    return json(200, row);
  },
});

/** The job that reconciles does it as well, and asks again where it is in vain. */
async function readAtOnce(deps: ApiDeps, { source, event_id: eventId }: DeadLetterView): Promise<void> {
  if (source === null || eventId === null) return;
  const found = await readEvent(deps.pool, source, eventId);
  if (found !== null) await understandAnew(deps, found);
}

async function tell({ temporal, log }: ApiDeps, id: string, workflowId: string | null): Promise<void> {
  const deadline = Date.now() + TELL_WITHIN_MS;
  const work = { eventType: 'dead_letter.decided', aggregateId: id, payload: { workflow_id: workflowId } };
  await within(deadline, () => temporal.withDeadline(deadline, () => startRequested(temporal.workflow, work))).catch(
    (error: unknown) => {
      log.debug({ err: error, dead_letter_id: id }, 'workflow not told at once; the relay tells it');
    },
  );
}
