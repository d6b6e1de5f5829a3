import type { PoolClient } from 'pg';
import { deadLetterId } from '../domain/keys.ts';
import { nextGatewayLookMs } from '../domain/look-schedule.ts';
import { clearLookAgain } from './finish-events.ts';
import { openDeadLetter } from './open-dead-letter.ts';
import type { WaitingEvent } from './read-payment-work.ts';

export interface PostponedEvents {
  readonly pending: number;
  /** How many of them stopped waiting: a human is asked. */
  readonly held: number;
  /** Until the earliest next look, in milliseconds from `at`. */
  readonly nextLookMs: number | null;
}

/** Why an event waits for the gateway's next look, as a sentence for the person who is asked in the end. */
const CLAIMS_MORE = 'The gateway does not show what this event claims.';
const END_TAKEN_BACK =
  'The gateway shows the dispute as open, although it had ended; if it is still so, follow it there until it ends again.';

/**
 * Events that claim more than the gateway shows, or at which it shows less than it did, wait for its next look, after 5 s, 30 s,
 * 5 min and 1 h, and then for a human; they never pay by their own word (B3).
 */
export async function postponeEvents(
  tx: PoolClient,
  { source, paymentId, at }: { readonly source: string; readonly paymentId: string; readonly at: Date },
  claimingMore: readonly WaitingEvent[],
  endsTakenBack: readonly WaitingEvent[] = [],
): Promise<PostponedEvents> {
  const events = [...claimingMore, ...endsTakenBack];
  const reasonOf = (event: WaitingEvent) => (endsTakenBack.includes(event) ? END_TAKEN_BACK : CLAIMS_MORE);
  if (events.length === 0) return { pending: 0, held: 0, nextLookMs: null };
  // One that was processed before and now cannot be confirmed again keeps its outcome.
  const unfinished = events.filter((event) => event.state === 'pending' || event.state === 'held');
  const looks = unfinished.map((event) => {
    if (event.state === 'pending' && event.nextLookAt !== null && event.nextLookAt > at && event.lookAgainAt === null) {
      return { event, attempts: event.attempts, nextAt: event.nextLookAt };
    }
    // Asked to look again by a person or by new bytes, it starts its waiting anew.
    const done = event.lookAgainAt === null ? event.attempts : 0;
    const wait = nextGatewayLookMs(done);
    return { event, attempts: done + 1, nextAt: wait === null ? null : new Date(at.getTime() + wait) };
  });
  await tx.query(
    `update webhook_events e
     set attempts = l.attempts, next_look_at = l.next_look_at, last_error = l.reason,
         state = case when l.next_look_at is null then 'held' else 'pending' end
     from unnest($2::text[], $3::integer[], $4::timestamptz[], $5::text[]) as l (event_id, attempts, next_look_at, reason)
     where e.source = $1 and e.event_id = l.event_id`,
    [
      source,
      looks.map(({ event }) => event.eventId),
      looks.map(({ attempts }) => attempts),
      looks.map(({ nextAt }) => nextAt?.toISOString() ?? null),
      looks.map(({ event }) => reasonOf(event)),
    ],
  );
  await clearLookAgain(tx, source, events);
  const over = looks.filter(({ nextAt }) => nextAt === null);
  const [first] = over;
  if (first !== undefined) {
    await openDeadLetter(tx, {
      id: deadLetterId('unknown_at_gateway', source, paymentId),
      kind: 'unknown_at_gateway',
      source,
      eventId: first.event.eventId,
      orderId: first.event.orderId,
      paymentId,
      lastError: reasonOf(first.event),
    });
  }
  const waits = looks.flatMap(({ nextAt }) => (nextAt === null ? [] : [nextAt.getTime() - at.getTime()]));
  return {
    pending: waits.length,
    held: over.length,
    nextLookMs: waits.length === 0 ? null : Math.max(0, Math.min(...waits)),
  };
}
