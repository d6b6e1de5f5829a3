import type { Pool } from './pool.ts';

/** Deliveries of one source that were refused for one reason in one hour. */
export interface Refusals {
  readonly source: string;
  readonly reason: string;
  /** Milliseconds since the epoch: the hour's beginning. */
  readonly hour: number;
  readonly count: number;
  readonly lastAt: number;
  readonly lastRemoteAddress: string | null;
}

/** Adds counts to the hours they belong to. Sorted by key: two processes that add to the same hours must not wait in a circle. */
export async function saveRefusals(pool: Pool, refusals: readonly Refusals[]): Promise<void> {
  await pool.query(
    `insert into webhook_refusals (source, reason, hour, count, last_at, last_remote_address)
     select source, reason, to_timestamp(hour / 1000), count, to_timestamp(last_at / 1000), address
     from unnest($1::text[], $2::text[], $3::float8[], $4::bigint[], $5::float8[], $6::text[])
       as r (source, reason, hour, count, last_at, address)
     order by source, reason, hour
     on conflict (source, reason, hour) do update set
       count = webhook_refusals.count + excluded.count,
       last_at = greatest(webhook_refusals.last_at, excluded.last_at),
       last_remote_address = excluded.last_remote_address`,
    [
      refusals.map((r) => r.source),
      refusals.map((r) => r.reason),
      refusals.map((r) => r.hour),
      refusals.map((r) => r.count),
      refusals.map((r) => r.lastAt),
      refusals.map((r) => r.lastRemoteAddress),
    ],
  );
}
