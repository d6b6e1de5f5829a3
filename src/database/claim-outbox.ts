import type { Pool } from 'pg';

export interface OutboxRow {
  readonly id: bigint;
  readonly eventType: string;
  readonly aggregateId: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** This one counted. */
  readonly attempts: number;
}

/** Longer than publishing a whole batch takes; a relay that dies holds its rows up this long. */
const LEASE_SECONDS = 30;

/**
 * Claims a batch of unpublished rows in one short statement (G2). No cursor over ids: a row whose transaction committed
 * late is not skipped.
 */
export async function claimOutbox(pool: Pool, batch: number): Promise<OutboxRow[]> {
  const { rows } = await pool.query<OutboxRow>(
    `with due as (
       select id from outbox
       where published_at is null and (claimed_until is null or claimed_until < now())
       order by id limit $1
       for no key update skip locked)
     update outbox o set claimed_until = now() + make_interval(secs => ${LEASE_SECONDS}), attempts = attempts + 1
     from due where o.id = due.id
     returning o.id, o.event_type as "eventType", o.aggregate_id as "aggregateId", o.payload, o.attempts`,
    [batch],
  );
  return rows;
}

export async function markPublished(pool: Pool, ids: readonly bigint[]): Promise<void> {
  if (ids.length === 0) return;
  await pool.query(
    'update outbox set published_at = clock_timestamp(), claimed_until = null, last_error = null where id = any($1)',
    [ids],
  );
}

/** A row that cannot be published backs off alone: 1 s, doubling up to 5 min, and stands in nobody's way. */
export async function postponeOutboxRow(pool: Pool, id: bigint, error: string): Promise<void> {
  await pool.query(
    `update outbox set claimed_until = now() + make_interval(secs => least(300, power(2, least(attempts, 10) - 1))), last_error = $2
     where id = $1`,
    [id, error],
  );
}
