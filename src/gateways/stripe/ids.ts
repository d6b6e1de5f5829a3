import { createHash } from 'node:crypto';

/** Stripe's own limit for an idempotency key. */
const LONGEST_KEY = 255;

/** Nothing else can be an id of Stripe's, and nothing else is put into a path. */
export function isStripeId(id: string): boolean {
  return /^[A-Za-z0-9_-]{1,200}$/.test(id);
}

/** A charge that is a payment by itself; `py_` are charges of payment methods that are no cards. */
export function isChargeId(paymentId: string): boolean {
  return /^(ch|py)_/.test(paymentId);
}

/** How a refund, or a list of refunds, names its payment. */
export function refundParent(paymentId: string): { charge: string } | { payment_intent: string } {
  return isChargeId(paymentId) ? { charge: paymentId } : { payment_intent: paymentId };
}

/** Our key as it is, where Stripe takes it; else one derived from it, the same every time. */
export function stripeIdempotencyKey(key: string): string {
  if (key.length <= LONGEST_KEY && /^[\x21-\x7e]+$/.test(key)) return key;
  return `sha256:${createHash('sha256').update(key).digest('hex')}`;
}
