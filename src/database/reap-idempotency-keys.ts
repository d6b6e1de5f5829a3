import type { KeyedRequest } from './idempotency.ts';
import type { Db } from './pool.ts';

/** A request that nobody is answering any more. */
export interface InterruptedRequest extends Pick<KeyedRequest, 'scope' | 'key'> {
  /** Null where none was made. */
  readonly reservation: string | null;
}

/** Keys in progress past their lease, the longest interrupted first. */
export async function findInterrupted(db: Db, limit: number): Promise<InterruptedRequest[]> {
  const { rows } = await db.query<InterruptedRequest>(
    `select scope, key, reservation from idempotency_keys
     where status = 'in_progress' and leased_until <= clock_timestamp() order by leased_until limit $1`,
    [limit],
  );
  return rows;
}

/** Gives a key free under which nothing stands reserved, unless somebody has taken it up again. */
export async function clearKey(db: Db, { scope, key, reservation }: InterruptedRequest): Promise<void> {
  await db.query(
    `delete from idempotency_keys where scope = $1 and key = $2 and reservation is not distinct from $3
       and status = 'in_progress' and leased_until <= clock_timestamp()`,
    [scope, key, reservation],
  );
}

/**
 * Forgets answers that are older than `keepMs`.
 *
 * @returns how many, at most `limit`: each batch is a short transaction
 */
export async function forgetAnswers(db: Db, keepMs: number, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from idempotency_keys where (scope, key) in (
       select scope, key from idempotency_keys
       where status = 'completed' and completed_at < clock_timestamp() - $1::interval limit $2)`,
    [`${keepMs} milliseconds`, limit],
  );
  return rowCount ?? 0;
}
