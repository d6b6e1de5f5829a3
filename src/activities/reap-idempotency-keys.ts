import { storeAnswer } from '../database/idempotency.ts';
import type { Pool } from '../database/pool.ts';
import {
  clearKey,
  findInterrupted,
  forgetAnswers,
  type InterruptedRequest,
} from '../database/reap-idempotency-keys.ts';
import { readReservation, reservedAnswer } from '../database/reservation.ts';
import type { Dependencies } from './dependencies.ts';

/** Counts of keys. */
export interface ReapedKeys {
  /** Answered with the truth about what they had reserved. */
  readonly completed: number;
  /** Given free: nothing stood reserved. */
  readonly cleared: number;
  /** Their answers were kept long enough. */
  readonly forgotten: number;
  /** There may be more. */
  readonly more: boolean;
}

/** Some hundred short statements end well within an activity's time, whatever a crash has left. */
const BATCH = 200;
/** One statement for all of them. */
const FORGET_BATCH = 5_000;

/**
 * One sweep over the Idempotency-Keys: requests that were interrupted past their lease are completed from what they
 * reserved, exactly as the API would answer, and old answers are forgotten (E4). Whoever stores an answer first wins.
 */
export function createReapIdempotencyKeys({ pool, policies }: Pick<Dependencies, 'pool' | 'policies'>) {
  return async function reapIdempotencyKeys(): Promise<ReapedKeys> {
    const interrupted = await findInterrupted(pool, BATCH);
    const count = { completed: 0, cleared: 0 };
    for (const request of interrupted) count[await complete(pool, request)] += 1;
    const forgotten = await forgetAnswers(pool, policies.idempotencyKeepMs, FORGET_BATCH);
    return { ...count, forgotten, more: interrupted.length === BATCH || forgotten === FORGET_BATCH };
  };
}

async function complete(pool: Pool, request: InterruptedRequest): Promise<'completed' | 'cleared'> {
  const reserved = request.reservation === null ? null : await readReservation(pool, request.reservation);
  if (reserved === null) {
    await clearKey(pool, request);
    return 'cleared';
  }
  await storeAnswer(pool, request, reservedAnswer(reserved));
  return 'completed';
}
