import type { PoolClient } from 'pg';

/**
 * Takes the rows of several events in one order for all who take several: an update of many rows takes them in
 * whatever order it meets them, and two of those can wait for each other. One row alone needs no such care.
 */
export async function lockEvents(
  tx: PoolClient,
  source: string,
  events: readonly { readonly eventId: string }[],
): Promise<void> {
  if (events.length < 2) return;
  await tx.query(
    'select from webhook_events where source = $1 and event_id = any($2) order by event_id for no key update',
    [source, events.map((event) => event.eventId)],
  );
}
