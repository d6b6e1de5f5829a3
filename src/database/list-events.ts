import { eventConditions, MICROSECONDS, type EventFilter, type EventPosition } from './event-filter.ts';
import type { Db } from './pool.ts';
import { EVENT_COLUMNS, type EventRow, eventView, type EventView } from './read-event.ts';

export interface EventPage {
  readonly events: readonly EventView[];
  /** Null on the last page. */
  readonly next: EventPosition | null;
}

/** Events, newest first. */
export async function listEvents(
  db: Db,
  filter: EventFilter,
  page: { readonly limit: number; readonly after: EventPosition | null },
): Promise<EventPage> {
  const values: unknown[] = [];
  const conditions = eventConditions(values, filter, page.after, '<');
  const { rows } = await db.query<EventRow & { micros: bigint | string }>(
    `select ${EVENT_COLUMNS}, ${MICROSECONDS} as micros
     from webhook_events e
     ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
     order by e.received_at desc, e.source desc, e.event_id desc
     limit $${values.push(page.limit + 1)}`,
    values,
  );
  const shown = rows.slice(0, page.limit);
  const last = shown.at(-1);
  return {
    events: shown.map(eventView),
    next:
      rows.length > page.limit && last !== undefined
        ? { receivedAt: String(last.micros), source: last.source, eventId: last.event_id }
        : null,
  };
}
