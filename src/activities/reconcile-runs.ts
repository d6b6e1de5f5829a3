import { readUnfinishedWork, type UnfinishedPlace } from '../database/unfinished-work.ts';
import type { Dependencies } from './dependencies.ts';
import { readRetriedEvents } from './read-retried-events.ts';

export interface ReconciledPage {
  readonly checked: number;
  /** The ids of the runs that were gone. */
  readonly restarted: readonly string[];
  readonly next: UnfinishedPlace | null;
}

/** Each is one question to the engine, asked all at once; as many as the relay asks. */
const PAGE = 100;

/**
 * Takes one page of the source's work that is not over, and starts what of it has no open run. Before the first, events that no run
 * could have taken up are read anew where a person wants it.
 */
export function createReconcileRuns(deps: Dependencies) {
  const { pool, restartUnfinished } = deps;
  return async function reconcileRuns(source: string, place: UnfinishedPlace | null): Promise<ReconciledPage> {
    if (place === null) await readRetriedEvents(deps, source);
    const { work, next } = await readUnfinishedWork(pool, source, place, PAGE);
    const restarted = await Promise.all(work.map((one) => restartUnfinished(one)));
    return { checked: work.length, restarted: restarted.filter((id) => id !== null), next };
  };
}
