import { reconcileStartOptions } from '../../relay/start-options.ts';
import type { Reconciliation } from '../../workflows/messages.ts';
import type { ApiDeps } from '../deps.ts';
import { mistake } from '../mistakes.ts';
import { Problem } from '../../domain/problem.ts';
import { defineRoute, json } from '../route.ts';
import { reconcileRequest, reconciliations } from '../schemas/operations.ts';
import { TooLate, within } from '../within.ts';

/** As long as the API waits for anything. */
const LONGEST_WAIT_MS = 5_000;
const RETRY_AFTER_SECONDS = 5;

export const reconcile = defineRoute({
  method: 'POST',
  path: '/v1/reconcile',
  scope: 'ops:write',
  summary: 'Start the work again that is not over and whose run is gone; a schedule does it every 5 minutes.',
  body: reconcileRequest,
  answers: {
    200: { description: 'What was started again.', schema: reconciliations },
    202: { description: 'It goes on in the workflows that are named.', schema: reconciliations },
  },
  async handle(deps, { body }) {
    const named = body.source;
    if (named !== undefined && !deps.sources.has(named))
      throw mistake('source', 'is not the name of a configured source');
    const deadline = Date.now() + LONGEST_WAIT_MS;
    const sources = named === undefined ? [...deps.sources.keys()] : [named];
    const data = await Promise.all(sources.map((source) => reconcileSource(deps, source, deadline)));
    return json(data.every(({ status }) => status === 'completed') ? 200 : 202, { data });
  },
});

async function reconcileSource({ temporal, log }: ApiDeps, source: string, deadline: number) {
  const options = reconcileStartOptions(source);
  const about = { source, workflow_id: options.workflowId };
  const run = await within(deadline, () =>
    temporal.withDeadline(deadline, () => temporal.workflow.start('reconcile', options)),
  ).catch((error: unknown): never => {
    log.warn({ err: error, source }, 'reconciliation not started');
    throw new Problem('unavailable', 'Temporal cannot be reached: nothing was started.', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  });
  try {
    const done = (await within(deadline, () => run.result())) as Reconciliation;
    return { ...about, status: 'completed' as const, ...done };
  } catch (error) {
    if (!(error instanceof TooLate)) throw error;
    return { ...about, status: 'running' as const, checked: null, restarted: null, examples: [] };
  }
}
