import { ApplicationFailure, proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { parseReconcileWorkflowId } from '../domain/keys.ts';
import type { Reconciliation } from './messages.ts';
import { PATIENT } from './retry.ts';

const activities = proxyActivities<Activities>(PATIENT);

/** A result that nobody can read to its end helps nobody. */
const MOST_EXAMPLES = 100;

/**
 * Starts the work of a source again that is not over and whose run is gone: terminated by hand, or lost with the engine's data.
 * PostgreSQL knows all of it; a schedule starts this, and a person may.
 */
export async function reconcile(): Promise<Reconciliation> {
  const source = parseReconcileWorkflowId(workflowInfo().workflowId);
  if (source === null) {
    throw ApplicationFailure.nonRetryable(
      `The id of this run, ${workflowInfo().workflowId}, is not reconcile:{source}: start it by that id.`,
    );
  }
  let [checked, restarted] = [0, 0];
  const examples: string[] = [];
  let page = await activities.reconcileRuns(source, null);
  for (;;) {
    checked += page.checked;
    restarted += page.restarted.length;
    examples.push(...page.restarted.slice(0, MOST_EXAMPLES - examples.length));
    setCurrentDetails(`${source}: ${checked} not over, ${restarted} of them started again.`);
    if (page.next === null) return { checked, restarted, examples };
    page = await activities.reconcileRuns(source, page.next);
  }
}
