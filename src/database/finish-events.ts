import type { PoolClient } from 'pg';
import { qualifiedEventId } from '../domain/keys.ts';
import type { WaitingEvent } from './read-payment-work.ts';

/** The consumer whose gate the events of payments pass (C1). */
const PAYMENTS_CONSUMER = 'payments';

/**
 * Closes events in the transaction that did their work: each gets its row at the gate, with its outcome, and is
 * processed from then on. An event that was processed before and only asked to be looked at again gets no second row.
 */
export async function finishEvents(
  tx: PoolClient,
  { source }: { readonly source: string },
  events: readonly WaitingEvent[],
  outcomeOf: (event: WaitingEvent) => string,
  state: 'processed' | 'ignored' = 'processed',
): Promise<void> {
  const first = events.filter((event) => event.state === 'pending' || event.state === 'held');
  if (first.length > 0) {
    await tx.query(
      `with done as (select * from unnest($2::text[], $3::text[], $4::text[]) as d (event_id, qualified, outcome)),
            gate as (
              insert into processed_events (consumer, event_id, outcome)
              select '${PAYMENTS_CONSUMER}', qualified, outcome from done
              on conflict do nothing)
       update webhook_events e
       set state = $5, outcome = done.outcome, processed_at = clock_timestamp(), next_look_at = null, last_error = null
       from done where e.source = $1 and e.event_id = done.event_id`,
      [
        source,
        first.map((event) => event.eventId),
        first.map((event) => qualifiedEventId(source, event.eventId)),
        first.map(outcomeOf),
        state,
      ],
    );
  }
  await clearLookAgain(tx, source, events);
}

/** A request to look again that came after this look was begun stays. */
export async function clearLookAgain(tx: PoolClient, source: string, events: readonly WaitingEvent[]): Promise<void> {
  const asked = events.filter((event) => event.lookAgainAt !== null);
  if (asked.length === 0) return;
  await tx.query(
    `update webhook_events e set look_again_at = null
     from unnest($2::text[], $3::timestamptz[]) as a (event_id, look_again_at)
     where e.source = $1 and e.event_id = a.event_id and e.look_again_at = a.look_again_at`,
    [source, asked.map((event) => event.eventId), asked.map((event) => event.lookAgainAt)],
  );
}
