import type { PoolClient } from 'pg';
import { deadLetterId } from '../domain/keys.ts';
import { nextGatewayLookMs, nextHeldLookMs, nextUnreadLookMs } from '../domain/look-schedule.ts';
import { UNREAD, unreadQuestion, unreadReason, type UnreadPayment } from '../domain/unread-payment.ts';
import { clearLookAgain } from './finish-events.ts';
import { openDeadLetter, recoverDeadLetters } from './open-dead-letter.ts';
import type { WaitingEvent } from './read-payment-work.ts';

export interface PostponedEvents {
  readonly pending: number;
  /** How many of them a human is asked about; they are looked at again all the same. */
  readonly held: number;
  /** Until the earliest next look, in milliseconds from `at`. */
  readonly nextLookMs: number | null;
}

/** Why an event waits for the gateway's next look, as a sentence for the person who is asked in the end. */
const CLAIMS_MORE = 'The gateway does not show what this event claims.';
const END_TAKEN_BACK =
  'The gateway shows the dispute as open, although it had ended; if it is still so, follow it there until it ends again.';

/**
 * Events that claim more than the gateway shows, or at which it shows less than it did, or about whose payment it says nothing that can
 * be used, wait for its next look, after 5 s, 30 s, 5 min and 1 h, and then for a human; they never pay by their own word (B3).
 *
 * @param unread why the payment could not be read: it is looked at by its workflow then, for as long as it takes
 */
export async function postponeEvents(
  tx: PoolClient,
  {
    source,
    paymentId,
    at,
    unread,
  }: {
    readonly source: string;
    readonly paymentId: string;
    readonly at: Date;
    readonly unread?: UnreadPayment | null;
  },
  claimingMore: readonly WaitingEvent[],
  endsTakenBack: readonly WaitingEvent[] = [],
): Promise<PostponedEvents> {
  const events = [...claimingMore, ...endsTakenBack];
  const reasonOf = (event: WaitingEvent) =>
    unread != null ? unreadReason(unread) : endsTakenBack.includes(event) ? END_TAKEN_BACK : CLAIMS_MORE;
  // One that was processed before and now cannot be confirmed again keeps its outcome.
  const unfinished = events.filter((event) => event.state === 'pending' || event.state === 'held');
  if (events.length === 0) return { pending: 0, held: 0, nextLookMs: null };
  const looks = unfinished.map((event) => nextLook(event, at, unread != null));
  await tx.query(
    `update webhook_events e
     set attempts = l.attempts, next_look_at = l.next_look_at, last_error = l.reason, state = l.state
     from unnest($2::text[], $3::integer[], $4::timestamptz[], $5::text[], $6::text[])
       as l (event_id, attempts, next_look_at, reason, state)
     where e.source = $1 and e.event_id = l.event_id`,
    [
      source,
      looks.map(({ event }) => event.eventId),
      looks.map(({ attempts }) => attempts),
      looks.map(({ nextAt }) => nextAt.toISOString()),
      looks.map(({ event }) => reasonOf(event)),
      looks.map(({ held }) => (held ? 'held' : 'pending')),
    ],
  );
  const askedAgainMs = nextUnreadLookMs(Infinity, unread?.retryAfterMs ?? 0);
  const asked = unread == null ? [] : events.filter((event) => !unfinished.includes(event));
  await clearLookAgain(tx, source, unread == null ? events : unfinished);
  await keepAsked(tx, source, asked, new Date(at.getTime() + askedAgainMs));
  const over = looks.filter(({ held }) => held);
  const [first] = over;
  if (first !== undefined) {
    await openDeadLetter(tx, {
      id: deadLetterId('unknown_at_gateway', source, paymentId),
      kind: 'unknown_at_gateway',
      source,
      eventId: first.event.eventId,
      orderId: first.event.orderId,
      paymentId,
      lastError: unread != null ? unreadQuestion(unread) : reasonOf(first.event),
    });
  }
  // What the gateway shows, and goes on not showing, needs no run that waits: the schedule that looks for unfinished work begins one.
  const awaited = unread != null ? looks : looks.filter(({ held }) => !held);
  const waits = awaited.map(({ nextAt }) => Math.max(0, nextAt.getTime() - at.getTime()));
  if (asked.length > 0) waits.push(askedAgainMs);
  const soonest = waits.length === 0 ? null : Math.min(...waits);
  return {
    pending: looks.length - over.length,
    held: over.length,
    nextLookMs:
      soonest === null || unread == null ? soonest : waitUnread(soonest, over.length === looks.length, unread),
  };
}

/** Once all of it is before a person, it waits its hour; until then a gateway that is back is noticed earlier. */
function waitUnread(soonest: number, allHeld: boolean, { retryAfterMs }: UnreadPayment): number {
  return allHeld ? soonest : nextUnreadLookMs(soonest, retryAfterMs);
}

/** Who asked for a look at what was done before has had none: that is asked for until the payment can be read. */
async function keepAsked(tx: PoolClient, source: string, events: readonly WaitingEvent[], nextAt: Date): Promise<void> {
  if (events.length === 0) return;
  await tx.query(`update webhook_events set next_look_at = $3 where source = $1 and event_id = any($2)`, [
    ...[source, events.map((event) => event.eventId), nextAt.toISOString()],
  ]);
}

function nextLook(event: WaitingEvent, at: Date, unread: boolean) {
  const held = event.state === 'held';
  if (event.lookAgainAt === null && event.nextLookAt !== null && event.nextLookAt > at) {
    return { event, attempts: event.attempts, nextAt: event.nextLookAt, held };
  }
  // Asked to look again by a person or by new bytes, it starts its waiting anew.
  const done = event.lookAgainAt === null ? event.attempts : 0;
  const wait = held && event.lookAgainAt === null ? null : nextGatewayLookMs(done);
  return {
    event,
    attempts: held && event.lookAgainAt === null ? done : done + 1,
    nextAt: new Date(at.getTime() + (wait ?? nextHeldLookMs(unread))),
    held: wait === null,
  };
}

/** Closes what a person was asked about the payment's events, once a look has settled all of them. */
export async function recoverPostponed(
  tx: PoolClient,
  {
    source,
    paymentId,
    events,
  }: { readonly source: string; readonly paymentId: string; readonly events: readonly WaitingEvent[] },
): Promise<void> {
  // One that somebody had looked at again meanwhile waits anew, and what was asked about it is still open.
  if (events.every((event) => event.state !== 'held' && event.attempts === 0)) return;
  const { rows } = await tx.query<{ left: boolean }>(
    `select exists (select from webhook_events where source = $1 and payment_id = $2 and state = 'held'
                    and (last_error = any($3) or starts_with(last_error, $4))) as left`,
    [source, paymentId, [CLAIMS_MORE, END_TAKEN_BACK], UNREAD],
  );
  if (rows[0]?.left === true) return;
  await recoverDeadLetters(tx, [deadLetterId('unknown_at_gateway', source, paymentId)]);
}
