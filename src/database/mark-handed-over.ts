import type { Db } from './pool.ts';

/** Temporal has them (A5). A row that somebody holds is left out, not waited for: it is being worked on, or swept again. */
export async function markHandedOver(db: Db, source: string, eventIds: readonly string[]): Promise<void> {
  await db.query(
    `with free as (
       select source, event_id from webhook_events
       where source = $1 and event_id = any($2) order by event_id for no key update skip locked)
     update webhook_events e set handed_over_at = clock_timestamp(), claimed_until = null
     from free where e.source = free.source and e.event_id = free.event_id`,
    [source, eventIds],
  );
}
