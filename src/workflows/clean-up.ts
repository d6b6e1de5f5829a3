import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { PATIENT } from './retry.ts';

const activities = proxyActivities<Activities>(PATIENT);

/** Removes what was published long ago, a batch at a time, until nothing is left to remove; a schedule starts it. */
export async function cleanUp(): Promise<{ removed: number }> {
  let removed = 0;
  for (;;) {
    const cleaned = await activities.cleanUp();
    removed += cleaned.removed;
    setCurrentDetails(`${removed} published announcements removed.`);
    if (!cleaned.more) return { removed };
  }
}
