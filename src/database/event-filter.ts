import type { EventView } from './read-event.ts';

/** Which events are meant; what is null does not matter. */
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

/** A place in the list, as a column of a statement whose table of events is called `e`. */
export const MICROSECONDS = '(extract(epoch from e.received_at) * 1000000)::bigint';

/**
 * The filter, and the place that the page before ended at, as conditions on a table of events called `e`.
 *
 * @param values takes what the conditions refer to by number
 * @param past on which side of `after` the page lies
 */
export function eventConditions(
  values: unknown[],
  filter: EventFilter,
  after: EventPosition | null,
  past: '<' | '>',
): string[] {
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
  if (after !== null) {
    const { receivedAt, source, eventId } = after;
    where(
      (at, of, id) =>
        `(e.received_at, e.source, e.event_id) ${past} (timestamptz 'epoch' + ${at}::bigint * interval '1 microsecond', ${of}, ${id})`,
      ...[receivedAt, source, eventId],
    );
  }
  return conditions;
}
