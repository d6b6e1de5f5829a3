import type { Db } from './pool.ts';

/**
 * Ids of a source's events that no payment is known of, that a person wants to be tried again, and that are held all the same, the
 * oldest decision first.
 */
export async function findRetriedEvents(db: Db, source: string, limit: number): Promise<readonly string[]> {
  const { rows } = await db.query<{ event_id: string }>(
    `select e.event_id from webhook_events e
     join dead_letters d on d.source = e.source and d.event_id = e.event_id
     where e.source = $1 and e.state = 'held' and e.payment_id is null
       and d.kind = 'event_unreadable' and d.status = 'decided' and d.decision->>'action' = 'retry'
       and not exists (select from dead_letters o where o.source = e.source and o.event_id = e.event_id and o.status = 'open')
     group by e.event_id order by min(d.closed_at) limit $2`,
    [source, limit],
  );
  return rows.map((row) => row.event_id);
}
