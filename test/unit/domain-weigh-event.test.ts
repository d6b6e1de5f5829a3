import { describe, expect, it } from 'vitest';
import { PAYMENT_STATUSES, paymentReaches, type PaymentStatus } from '../../src/domain/payment-states.ts';
import { refundMayBecome, type GatewayRefundStatus } from '../../src/domain/refund-states.ts';
import { weighPaymentEvent, weighRefundEvent, type EventWeight } from '../../src/domain/weigh-event.ts';

const E: EventWeight = 'exact';
const OLD: EventWeight = 'old_news';
const MORE: EventWeight = 'claims_more';

/**
 * The rows are what the event claims, the columns what a fetch after its receipt shows. By B3 an event is old news where
 * the fetched status is later than the claimed one, or can be reached from it, and claims more where only the claimed
 * one can still be reached from the fetched.
 *
 * - Captured is reached from everywhere and left by nothing: fetched, it makes all else old news; claimed and not
 *   fetched, it always claims more. That alone keeps money from being counted by an event's word, and from being lost.
 * - Expired leads to captured only, so that it claims more than anything else that is not captured.
 * - Pending, authorized and failed can each be reached from the others, since a failed attempt may be repeated. No money
 *   stands in any of them, and the fetch is the gateway's own word from after the event: it wins.
 */
const PAYMENT: Record<PaymentStatus, Record<PaymentStatus, EventWeight>> = {
  //          fetched:
  pending: { pending: E, authorized: OLD, captured: OLD, failed: OLD, expired: OLD },
  authorized: { pending: OLD, authorized: E, captured: OLD, failed: OLD, expired: OLD },
  captured: { pending: MORE, authorized: MORE, captured: E, failed: MORE, expired: MORE },
  failed: { pending: OLD, authorized: OLD, captured: OLD, failed: E, expired: OLD },
  expired: { pending: MORE, authorized: MORE, captured: OLD, failed: MORE, expired: E },
};

describe('an event about a payment', () => {
  it.each(PAYMENT_STATUSES)('that claims %s weighs as argued against each status that the gateway shows', (claimed) => {
    const weights = PAYMENT_STATUSES.map((fetched) => [fetched, weighPaymentEvent(claimed, fetched)]);
    expect(Object.fromEntries(weights)).toEqual(PAYMENT[claimed]);
  });

  it('claims more than a gateway shows that does not know the payment, whatever it claims', () => {
    for (const claimed of [null, ...PAYMENT_STATUSES]) expect(weighPaymentEvent(claimed, null)).toBe(MORE);
  });

  it('that claims nothing says just what the gateway shows', () => {
    for (const fetched of PAYMENT_STATUSES) expect(weighPaymentEvent(null, fetched)).toBe(E);
  });

  it('claims more only if that can still come, and is old news only if the gateway may have gone on from there', () => {
    for (const claimed of PAYMENT_STATUSES) {
      for (const fetched of PAYMENT_STATUSES) {
        const weight = weighPaymentEvent(claimed, fetched);
        if (weight === MORE) expect(paymentReaches(fetched, claimed)).toBe(true);
        if (weight === OLD) expect(paymentReaches(claimed, fetched)).toBe(true);
        if (weight === E) expect(claimed).toBe(fetched);
      }
    }
  });
});

const REFUND_CLAIMS: readonly GatewayRefundStatus[] = ['pending', 'succeeded', 'failed'];

/** A succeeded refund can still fail (the bank returns it), a failed one never succeeds: each status has a place in line. */
const REFUND: Record<GatewayRefundStatus, Record<GatewayRefundStatus, EventWeight>> = {
  //          fetched:
  pending: { pending: E, succeeded: OLD, failed: OLD },
  succeeded: { pending: MORE, succeeded: E, failed: OLD },
  failed: { pending: MORE, succeeded: MORE, failed: E },
};

describe('an event about a refund', () => {
  it.each(REFUND_CLAIMS)('that claims %s weighs as argued against each status that the gateway shows', (claimed) => {
    const weights = REFUND_CLAIMS.map((fetched) => [fetched, weighRefundEvent(claimed, fetched)]);
    expect(Object.fromEntries(weights)).toEqual(REFUND[claimed]);
  });

  it('claims more than a gateway shows that does not know the refund, whatever it claims', () => {
    for (const claimed of [null, ...REFUND_CLAIMS]) expect(weighRefundEvent(claimed, null)).toBe(MORE);
  });

  it('that claims nothing says just what the gateway shows', () => {
    for (const fetched of REFUND_CLAIMS) expect(weighRefundEvent(null, fetched)).toBe(E);
  });

  it('weighs as the table of the refund says: more where a transition leads on to it, old where it led away', () => {
    for (const claimed of REFUND_CLAIMS) {
      for (const fetched of REFUND_CLAIMS) {
        // An event that says "succeeded" of one that is shown as failed tells of what the bank sent back since.
        const onward = refundMayBecome(fetched, claimed) && fetched !== 'failed';
        expect(weighRefundEvent(claimed, fetched) === MORE, `${claimed} over ${fetched}`).toBe(onward);
      }
    }
  });
});
