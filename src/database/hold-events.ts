import type { PoolClient } from 'pg';
import { deadLetterId } from '../domain/keys.ts';
import { clearLookAgain } from './finish-events.ts';
import { openDeadLetter } from './open-dead-letter.ts';
import type { WaitingEvent } from './read-payment-work.ts';

export interface EventToHold {
  readonly event: WaitingEvent;
  /** A sentence for the person who decides. */
  readonly reason: string;
  /** Whether the event needs a dead letter of its own; otherwise its payment has one. */
  readonly deadLetter: boolean;
  /** When it is looked at again by itself; unless given, only when somebody asks for it. */
  readonly nextLookAt?: Date;
}

/** Puts events before a human: they wait for a decision, and no gate row says that they were acted on (C1). */
export async function holdEvents(
  tx: PoolClient,
  { source, paymentId }: { readonly source: string; readonly paymentId: string },
  holds: readonly EventToHold[],
): Promise<void> {
  const unfinished = holds.filter(({ event }) => event.state === 'pending' || event.state === 'held');
  if (unfinished.length > 0) {
    await tx.query(
      `update webhook_events e set state = 'held', last_error = h.reason, next_look_at = h.next_look_at
       from unnest($2::text[], $3::text[], $4::timestamptz[]) as h (event_id, reason, next_look_at)
       where e.source = $1 and e.event_id = h.event_id`,
      [
        source,
        unfinished.map(({ event }) => event.eventId),
        unfinished.map(({ reason }) => reason),
        unfinished.map(({ nextLookAt }) => nextLookAt?.toISOString() ?? null),
      ],
    );
  }
  for (const { event, reason } of unfinished.filter((hold) => hold.deadLetter)) {
    await openDeadLetter(tx, {
      id: deadLetterId('event_unreadable', source, event.eventId),
      kind: 'event_unreadable',
      source,
      eventId: event.eventId,
      orderId: event.orderId,
      paymentId,
      lastError: reason,
    });
  }
  await clearLookAgain(
    tx,
    source,
    holds.map(({ event }) => event),
  );
}
