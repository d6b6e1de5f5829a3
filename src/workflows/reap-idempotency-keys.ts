import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { PATIENT } from './retry.ts';

const activities = proxyActivities<Activities>(PATIENT);

/** Completes the requests that were interrupted, and forgets old answers, until nothing is left to do; a schedule starts it. */
export async function reapIdempotencyKeys(): Promise<{ completed: number; cleared: number; forgotten: number }> {
  let [completed, cleared, forgotten] = [0, 0, 0];
  for (;;) {
    const reaped = await activities.reapIdempotencyKeys();
    completed += reaped.completed;
    cleared += reaped.cleared;
    forgotten += reaped.forgotten;
    setCurrentDetails(
      `${completed} interrupted requests completed, ${cleared} keys given free, ${forgotten} old answers forgotten.`,
    );
    if (!reaped.more) return { completed, cleared, forgotten };
  }
}
