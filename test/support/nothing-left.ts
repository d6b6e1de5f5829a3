import type { Pool } from 'pg';
import { eventually } from './eventually.ts';

/** Waits until nothing is left that the machine does by itself at once; what waits for a named time may go on waiting. */
export async function nothingLeft(pool: Pool, limitMs: number): Promise<void> {
  let left: Record<string, number> = {};
  await eventually(
    'nothing is left to do',
    async () => {
      const { rows } = await pool.query<Record<string, number>>(`
        select (select count(*)::int from webhook_events where state = 'pending' and next_look_at is null or look_again_at is not null) as events,
               (select count(*)::int from outbox where published_at is null) as outbox,
               (select count(*)::int from refunds where status in ('pending', 'unknown')) as refunds,
               (select count(*)::int from payouts where status in ('pending', 'unknown')) as payouts,
               (select count(*)::int from charges where status in ('pending', 'unknown')) as charges,
               (select count(*)::int from top_ups where status in ('pending', 'unknown')) as top_ups,
               (select count(*)::int from checkouts where status in ('pending', 'unknown')) as checkouts`);
      left = rows[0] ?? {};
      return Object.values(left).every((n) => n === 0);
    },
    limitMs,
  ).catch((error: unknown) => {
    throw new Error(`${(error as Error).message}; left: ${JSON.stringify(left)}`);
  });
}
