import type { PoolClient } from 'pg';
import { nextOrderLookMs } from '../domain/look-schedule.ts';
import type { PaymentStep } from './apply-facts.ts';
import { clearLookAgain } from './finish-events.ts';

/** Why a capture that has no order stops waiting; null while it goes on. */
export function unmatchedReason({ input, orderId, sorted, known }: PaymentStep): string | null {
  if (orderId === null) return 'The payment was captured, and neither the gateway nor we know for which order.';
  // Put before a human once, it does not begin to wait anew with its next event; its order, when it appears, still lifts it.
  const unmatched = `The payment was captured for order ${orderId}, and no such order was created in time.`;
  if (known?.outcome === 'held_for_review') return unmatched;
  const since = sorted.settled[0]?.receivedAt ?? known?.createdAt ?? input.at;
  const waited = input.at.getTime() - since.getTime();
  return nextOrderLookMs(0, waited, input.policies.orderWaitMs) === null ? unmatched : null;
}

/** A capture before its order waits durably (B7): creating the order wakes it, and it looks again by itself at growing intervals. */
export async function waitForOrder(
  tx: PoolClient,
  { input, sorted, known }: PaymentStep,
): Promise<{ pending: number; nextLookMs: number | null }> {
  const { orderWaitMs } = input.policies;
  const since = sorted.settled[0]?.receivedAt ?? known?.createdAt ?? input.at;
  const waited = input.at.getTime() - since.getTime();
  const attempts = Math.max(0, ...sorted.settled.map((event) => event.attempts));
  // Another event of the payment is no reason to wait longer: a look that is still to come stays where it was.
  const planned = Math.min(
    ...sorted.settled.flatMap((event) => (event.nextLookAt === null ? [] : [event.nextLookAt.getTime()])),
  );
  const due = !(planned > input.at.getTime() && Number.isFinite(planned));
  const nextLookMs = due ? (nextOrderLookMs(attempts, waited, orderWaitMs) ?? 0) : planned - input.at.getTime();
  const unfinished = sorted.settled.filter((event) => event.state === 'pending' || event.state === 'held');
  await tx.query(
    `update webhook_events set attempts = attempts + $4::integer, next_look_at = $3::timestamptz, state = 'pending',
            last_error = 'The order does not exist yet.'
     where source = $1 and event_id = any($2)`,
    [
      input.source,
      unfinished.map((event) => event.eventId),
      new Date(input.at.getTime() + nextLookMs).toISOString(),
      due ? 1 : 0,
    ],
  );
  await clearLookAgain(tx, input.source, sorted.settled);
  return { pending: unfinished.length, nextLookMs };
}
