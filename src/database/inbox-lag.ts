import type { Db } from './pool.ts';

/** How long the oldest event that nobody has handed over has waited, in milliseconds; 0 where none waits. */
export async function inboxLagMs(db: Db): Promise<number> {
  const { rows } = await db.query<{ lag: number }>(
    `select coalesce(extract(epoch from now() - min(received_at)) * 1000, 0)::float8 as lag
     from webhook_events
     where (state = 'pending' or look_again_at is not null) and handed_over_at is null and payment_id is not null`,
  );
  return rows[0]?.lag ?? 0;
}
