import { findMissingStartOptions, reconcileStartOptions, type StartOptions } from '../../relay/start-options.ts';
import type { MissingWebhooks, Reconciliation, ScheduledWorkflowName } from '../../workflows/messages.ts';
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
  summary:
    'Start the work again whose run is gone, and find webhooks that never came; schedules do both every 5 minutes.',
  body: reconcileRequest,
  answers: {
    200: { description: 'What was started again, and what was found.', schema: reconciliations },
    202: { description: 'It goes on in the workflows that are named.', schema: reconciliations },
  },
  async handle(deps, { body }) {
    const named = body.source;
    if (named !== undefined && !deps.sources.has(named))
      throw mistake('source', 'is not the name of a configured source');
    const deadline = Date.now() + LONGEST_WAIT_MS;
    const sources = named === undefined ? [...deps.sources.keys()] : [named];
    const data = await Promise.all(sources.map((source) => reconcileSource(deps, source, deadline)));
    const over = data.every((one) => one.status === 'completed' && one.missing_webhooks.status === 'completed');
    return json(over ? 200 : 202, { data });
  },
});

async function reconcileSource(deps: ApiDeps, source: string, deadline: number) {
  const [reconciled, missing] = await Promise.all([
    runOf<Reconciliation>(deps, 'reconcile', reconcileStartOptions(source), deadline),
    runOf<MissingWebhooks>(deps, 'findMissingWebhooks', findMissingStartOptions(source), deadline),
  ]);
  const { result } = missing;
  return {
    ...{ source, workflow_id: reconciled.workflowId, status: reconciled.status },
    ...(reconciled.result ?? { checked: null, restarted: null, examples: [] }),
    missing_webhooks: {
      ...{ workflow_id: missing.workflowId, status: missing.status },
      ...{ listed: result?.listed ?? null, found: result?.found ?? null, left: result?.left ?? null },
      ...{ examples: result?.examples ?? [], unfinished: result?.unfinished ?? null, problem: result?.problem ?? null },
    },
  };
}

/** Starts a run, or joins the one that is open, and waits for its result as long as the caller can. */
async function runOf<T>(
  { temporal, log }: ApiDeps,
  workflow: ScheduledWorkflowName,
  options: StartOptions,
  deadline: number,
): Promise<{ workflowId: string; status: 'completed' | 'running'; result: T | null }> {
  const { workflowId } = options;
  const run = await within(deadline, () =>
    temporal.withDeadline(deadline, () => temporal.workflow.start(workflow, options)),
  ).catch((error: unknown): never => {
    log.warn({ err: error, workflow_id: workflowId }, 'reconciliation not started');
    throw new Problem('unavailable', 'Temporal cannot be reached: nothing was started.', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  });
  try {
    return { workflowId, status: 'completed', result: (await within(deadline, () => run.result())) as T };
  } catch (error) {
    if (!(error instanceof TooLate)) throw error;
    return { workflowId, status: 'running', result: null };
  }
}
