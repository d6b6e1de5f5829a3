import { isCancellation, proxyActivities, proxyLocalActivities, TemporalFailure } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { PATIENT, QUICK } from './retry.ts';

type Steps = ReturnType<typeof proxyActivities<Activities>>;

const patient: Steps = proxyActivities<Activities>(PATIENT);
// The two proxies differ in how a step is run, not in what it takes and answers.
const quick = proxyLocalActivities<Activities>(QUICK);

/**
 * Runs a short step as a local activity, and where that fails goes on with the same step as an ordinary one.
 *
 * @param step called once or twice; time that it reads is the workflow's, at the call
 */
export async function quickly<T>(step: (activities: Steps) => Promise<T>): Promise<T> {
  try {
    return await step(quick);
  } catch (error) {
    // A local activity's failure arrives as it was thrown, or as a timeout; an ordinary one's would be wrapped.
    if (!(error instanceof TemporalFailure) || isCancellation(error)) throw error;
    return step(patient);
  }
}
