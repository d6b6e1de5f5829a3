import type { DisputeStatus } from './event-reading.ts';
import { paymentReaches, type PaymentStatus } from './payment-states.ts';
import type { GatewayRefundStatus } from './refund-states.ts';

/**
 * `exact`: the fetch shows what the event claims (or the event claims nothing). `old_news`: the fetch shows a later
 * state. `claims_more`: the gateway itself does not show it yet; the event waits and the gateway is asked again (B3).
 */
export type EventWeight = 'exact' | 'old_news' | 'claims_more';

/**
 * Compares what an event about a payment claims with what a fetch that began after its receipt shows.
 *
 * @param fetched null where the gateway does not know the payment
 */
export function weighPaymentEvent(claimed: PaymentStatus | null, fetched: PaymentStatus | null): EventWeight {
  if (fetched === null) return 'claims_more';
  if (claimed === null || claimed === fetched) return 'exact';
  // Where each can be reached from the other (failed and pending), the fetch is taken to be the later one.
  if (paymentReaches(claimed, fetched)) return 'old_news';
  return paymentReaches(fetched, claimed) ? 'claims_more' : 'old_news';
}

/** How far a refund has come, as a gateway tells it: a succeeded one can still be sent back by the bank. */
const REFUND_PROGRESS: Readonly<Record<GatewayRefundStatus, number>> = { pending: 0, succeeded: 1, failed: 2 };

/** The same for an event about a refund. */
export function weighRefundEvent(
  claimed: GatewayRefundStatus | null,
  fetched: GatewayRefundStatus | null,
): EventWeight {
  if (fetched === null) return 'claims_more';
  if (claimed === null || claimed === fetched) return 'exact';
  return REFUND_PROGRESS[fetched] > REFUND_PROGRESS[claimed] ? 'old_news' : 'claims_more';
}

/** The same for an event about a dispute, where its gateway shows disputes. Of two different ends the shown one is the later. */
export function weighDisputeEvent(claimed: DisputeStatus | null, fetched: DisputeStatus | null): EventWeight {
  if (fetched === null) return 'claims_more';
  if (claimed === null || claimed === fetched) return 'exact';
  return fetched === 'opened' ? 'claims_more' : 'old_news';
}
