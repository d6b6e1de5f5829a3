import { removePublished } from '../database/remove-published.ts';
import type { Dependencies } from './dependencies.ts';

/** A short statement, however much a long pause has left. */
const BATCH = 2_000;

/** One batch of announcements that were published longer ago than they are kept. */
export function createCleanUp({ pool, policies }: Pick<Dependencies, 'pool' | 'policies'>) {
  return async function cleanUp(): Promise<{ removed: number; more: boolean }> {
    const removed = await removePublished(pool, policies.outboxKeepMs, BATCH);
    return { removed, more: removed === BATCH };
  };
}
