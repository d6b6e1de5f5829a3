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

const CLAIMS_MORE = 'The gateway does not show what this event claims.';

/**
 * Events that claim more than the gateway shows wait for its next look, after 5 s, 30 s, 5 min and 1 h, and then for a
 * human; they never pay by their own word (B3).
 */
export async function postponeEvents(
  tx: PoolClient,
  { source, paymentId, at }: { readonly source: string; readonly paymentId: string; readonly at: Date },
  events: readonly WaitingEvent[],
): Promise<PostponedEvents> {
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
     set attempts = l.attempts, next_look_at = l.next_look_at, last_error = $5,
         state = case when l.next_look_at is null then 'held' else 'pending' end
     from unnest($2::text[], $3::integer[], $4::timestamptz[]) as l (event_id, attempts, next_look_at)
     where e.source = $1 and e.event_id = l.event_id`,
    [
      source,
      looks.map(({ event }) => event.eventId),
      looks.map(({ attempts }) => attempts),
      looks.map(({ nextAt }) => nextAt?.toISOString() ?? null),
      CLAIMS_MORE,
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
      lastError: CLAIMS_MORE,
    });
  }
  const waits = looks.flatMap(({ nextAt }) => (nextAt === null ? [] : [nextAt.getTime() - at.getTime()]));
  return {
    pending: waits.length,
    held: over.length,
    nextLookMs: waits.length === 0 ? null : Math.max(0, Math.min(...waits)),
  };
}
