const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/**
 * When the gateway is asked again about an event that claims more than it shows (B3): a gateway's own replicas lag
 * seconds, its incidents minutes; after an hour it is not lag any more and a human looks.
 */
const GATEWAY_LOOKS_MS: readonly number[] = [5 * SECOND, 30 * SECOND, 5 * MINUTE, HOUR];

/** When the order is looked for again (B7). Its creation wakes the payment anyway; these catch what no wake-up reached. */
const ORDER_LOOKS_MS: readonly number[] = [5 * SECOND, 30 * SECOND, 5 * MINUTE, HOUR];

/**
 * The next look after `looksDone` looks that settled nothing.
 *
 * @returns milliseconds to wait; null when the waiting is over and a human is asked
 */
export function nextGatewayLookMs(looksDone: number): number | null {
  return GATEWAY_LOOKS_MS[looksDone] ?? null;
}

/** A payment that cannot be read is asked for at least this often, while its events wait: a gateway that is back is noticed by then. */
const UNREAD_LOOK_MS = 5 * MINUTE;
/** Once a person has been told, what cannot be read is looked at hourly: it costs little, and mends itself. */
const UNREAD_HELD_LOOK_MS = HOUR;
/** What the gateway can be read and does not show is asked for once a day: it seldom changes its mind by then. */
const UNSHOWN_HELD_LOOK_MS = 24 * HOUR;

/**
 * When the payment is looked at again whose events wait for `waitMs`, as it cannot be read at all. Looks in between change nothing of
 * when a person is told.
 */
export function nextUnreadLookMs(waitMs: number, retryAfterMs: number): number {
  return Math.max(Math.min(waitMs, UNREAD_LOOK_MS), quietMs(retryAfterMs));
}

/** How long a gateway's Retry-After is kept to: a payment is not out of sight for longer than this. */
export function quietMs(retryAfterMs: number): number {
  return Math.min(retryAfterMs, HOUR);
}

/** When what is before a person already is looked at again by itself, in milliseconds. */
export function nextHeldLookMs(unread: boolean): number {
  return unread ? UNREAD_HELD_LOOK_MS : UNSHOWN_HELD_LOOK_MS;
}

/**
 * The next look for an order that does not exist yet: at growing intervals, then hourly, and once more at the deadline.
 *
 * @param waitedMs since the event was received
 * @returns milliseconds to wait; null when the configured wait is over
 */
export function nextOrderLookMs(looksDone: number, waitedMs: number, orderWaitMs: number): number | null {
  const left = orderWaitMs - waitedMs;
  if (left <= 0) return null;
  return Math.min(ORDER_LOOKS_MS[looksDone] ?? HOUR, left);
}

/** After an unknown outcome and a used-up retry policy, the gateway is asked again after 5 min, 1 h, then daily (F3). */
export function nextUnknownLookMs(looksDone: number): number {
  return [5 * MINUTE, HOUR][looksDone] ?? 24 * HOUR;
}

/** A refund that the gateway calls pending: its webhook says when it is through; these polls are for the webhook that never comes. */
export function nextPendingLookMs(looksDone: number): number {
  return [30 * SECOND, 5 * MINUTE, HOUR][looksDone] ?? 24 * HOUR;
}
