import { ApplicationFailure, proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { parseFindMissingWorkflowId } from '../domain/keys.ts';
import type { MissingWebhooks } from './messages.ts';
import { PATIENT } from './retry.ts';

const activities = proxyActivities<Activities>(PATIENT);

/** Six events of history a page, well below what a run should hold; every five minutes that is eighty entries a second. */
const MOST_PAGES = 250;
/** The schedule's next run goes on from there; it would be skipped while this one is open. */
const LONGEST_MS = 4 * 60_000;
/** A result that nobody can read to its end helps nobody. */
const MOST_EXAMPLES = 100;

/**
 * Looks through what a source's gateway says that it sent, and takes in the events whose webhooks never came (H2). Where it
 * stopped stands in PostgreSQL; a schedule starts this, and a person may.
 */
export async function findMissingWebhooks(): Promise<MissingWebhooks> {
  const source = parseFindMissingWorkflowId(workflowInfo().workflowId);
  if (source === null) {
    throw ApplicationFailure.nonRetryable(
      `The id of this run, ${workflowInfo().workflowId}, is not find-missing-webhooks:{source}: start it by that id.`,
    );
  }
  const beganAt = Date.now();
  let [listed, found, left] = [0, 0, 0];
  const examples: string[] = [];
  for (let pages = 1; ; pages += 1) {
    const page = await activities.findMissingWebhooks(source);
    listed += page.listed;
    found += page.found.length;
    left += page.left;
    examples.push(...page.found.slice(0, MOST_EXAMPLES - examples.length));
    setCurrentDetails(
      `${source}: ${listed} events listed at the gateway, ${found} of them never came, ${left} may still be on their way.` +
        (page.problem === null ? '' : ` ${page.problem}`),
    );
    if (!page.more || pages >= MOST_PAGES || Date.now() - beganAt >= LONGEST_MS)
      return { listed, found, left, examples, unfinished: page.more, problem: page.problem };
  }
}
