import type { Db } from './pool.ts';
import { EVENT_COLUMNS, type EventRow, eventView, type EventView } from './read-event.ts';

export interface EventFilter {
  readonly source: string | null;
  readonly type: string | null;
  readonly paymentId: string | null;
  readonly orderId: string | null;
  readonly state: EventView['state'] | null;
  /** By the time of receipt; `to` is excluded. */
  readonly from: Date | null;
  readonly to: Date | null;
}

/** Where a page ended: the place in the list stays the same whatever comes in before it. */
export interface EventPosition {
  /** Microseconds since the epoch, as decimal text: JavaScript's times are too coarse. */
  readonly receivedAt: string;
  readonly source: string;
  readonly eventId: string;
}

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
  const conditions: string[] = [];
  const where = (condition: (...places: string[]) => string, ...given: unknown[]): void => {
    conditions.push(condition(...given.map((value) => `$${values.push(value)}`)));
  };
  if (filter.source !== null) where((p) => `e.source = ${p}`, filter.source);
  if (filter.type !== null) where((p) => `e.event_type = ${p}`, filter.type);
  if (filter.paymentId !== null) where((p) => `e.payment_id = ${p}`, filter.paymentId);
  if (filter.orderId !== null) where((p) => `e.order_id = ${p}`, filter.orderId);
  if (filter.state !== null) where((p) => `e.state = ${p}`, filter.state);
  if (filter.from !== null) where((p) => `e.received_at >= ${p}`, filter.from.toISOString());
  if (filter.to !== null) where((p) => `e.received_at < ${p}`, filter.to.toISOString());
  if (page.after !== null) {
    const { receivedAt, source, eventId } = page.after;
    where(
      (at, of, id) =>
        `(e.received_at, e.source, e.event_id) < (timestamptz 'epoch' + ${at}::bigint * interval '1 microsecond', ${of}, ${id})`,
      ...[receivedAt, source, eventId],
    );
  }
  const { rows } = await db.query<EventRow & { micros: bigint | string }>(
    `select ${EVENT_COLUMNS}, (extract(epoch from e.received_at) * 1000000)::bigint as micros
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
