import type { EventListing, EventPage, ListedEvent } from './gateway.ts';

/**
 * Gateways that list by time, newest first, are asked for one stretch of time after the other, oldest first. A place is
 * `{from}` where a stretch begins, and `{from}.{to}.{rest}` within one; times are Unix seconds, and `rest` is the adapter's.
 */
export interface ListingWindow {
  /** Unix seconds, included. */
  readonly from: number;
  /** Unix seconds, not included. */
  readonly to: number;
  /** Null: the stretch begins. */
  readonly rest: string | null;
}

/** A first listing goes through weeks: a day at a time keeps what has been read when it is interrupted. */
const LONGEST_S = 24 * 60 * 60;

/** The stretch to list. Where it ends the younger part begins, which is listed anew by the next pass. */
export function openWindow({ after, since, now }: EventListing, appearsWithinMs: number): ListingWindow {
  const end = Math.floor(now.getTime() / 1000);
  const settled = settledAt(now, appearsWithinMs);
  const [begin, until, ...rest] = (after ?? String(Math.floor(since.getTime() / 1000))).split('.');
  const from = Math.min(Number(begin), end);
  if (until !== undefined) return { from, to: Number(until), rest: rest.join('.') };
  return { from, to: from < settled ? Math.min(from + LONGEST_S, settled) : end, rest: null };
}

/** @param rest where the stretch goes on; null: it is at its end */
export function windowPage(
  { from, to }: ListingWindow,
  events: readonly ListedEvent[],
  rest: string | null,
  now: Date,
  appearsWithinMs: number,
): EventPage {
  if (rest !== null) return { events, next: `${from}.${to}.${rest}`, settled: null };
  const settled = to <= settledAt(now, appearsWithinMs);
  return { events, next: settled ? String(to) : null, settled };
}

function settledAt(now: Date, appearsWithinMs: number): number {
  return Math.floor((now.getTime() - appearsWithinMs) / 1000);
}
