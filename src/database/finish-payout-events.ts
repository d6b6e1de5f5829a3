import type { PayoutFacts } from '../domain/gateway-facts.ts';
import { finishEvents } from './finish-events.ts';
import { lockEvents } from './lock-events.ts';
import { postponeEvents } from './postpone-events.ts';
import type { Db, Tx } from './pool.ts';
import type { WaitingEvent } from './read-payment-work.ts';
import type { Payout } from './read-payout.ts';

/** How far a payout has come: a bank can send one back that had arrived. */
const PROGRESS = { pending: 0, paid: 1, failed: 2 } as const;

/** The events of a payout that wait, oldest first. */
export async function readPayoutEvents(db: Db, payout: Payout): Promise<WaitingEvent[]> {
  const { rows } = await db.query<WaitingEvent>(
    `select event_id as "eventId", event_type as "eventType", subject, object_id as "objectId", order_id as "orderId", claimed,
            state, received_at as "receivedAt", attempts, next_look_at as "nextLookAt",
            look_again_at::text as "lookAgainAt"
     from webhook_events
     where source = $1 and subject = 'payout' and (state = 'pending' or look_again_at is not null)
       and (reference = $2 or object_id = $3)
     order by received_at, event_id limit 100`,
    [payout.source, payout.reference, payout.gatewayPayoutId],
  );
  return rows;
}

/** Closes those that the fetched state covers; the others claim more than the gateway shows, and wait (B3). */
export async function finishPayoutEvents(
  tx: Tx,
  payout: Payout,
  facts: PayoutFacts,
  events: readonly WaitingEvent[],
  at: Date,
): Promise<void> {
  const { source } = payout;
  await lockEvents(tx, source, events);
  const covered = (event: WaitingEvent) =>
    event.claimed === null || PROGRESS[event.claimed as keyof typeof PROGRESS] <= PROGRESS[facts.status];
  await finishEvents(tx, { source }, events.filter(covered), () => 'payout_recorded');
  await postponeEvents(
    tx,
    { source, paymentId: facts.payoutId, at },
    events.filter((event) => !covered(event)),
  );
}
