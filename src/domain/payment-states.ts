/**
 * The states of one payment and the named transitions between them (B3).
 *
 * `captured` is final here: what happens to the money afterwards (refunds, disputes) stands in amounts and flags
 * beside the status and never hides that the money came.
 */
export const PAYMENT_STATUSES = ['pending', 'authorized', 'captured', 'failed', 'expired'] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/** From each state, the states that one named transition reaches. */
export const PAYMENT_TRANSITIONS: Readonly<Record<PaymentStatus, Readonly<Partial<Record<PaymentStatus, string>>>>> = {
  pending: { authorized: 'authorize', captured: 'capture', failed: 'fail', expired: 'expire' },
  authorized: { captured: 'capture', failed: 'fail', expired: 'expire' },
  // A failed attempt may be repeated under the same payment, and its success recovers it.
  failed: { pending: 'retry', authorized: 'recover', captured: 'recover', expired: 'expire' },
  // Gateways have been seen to capture a payment that they had already called expired.
  expired: { captured: 'recover' },
  captured: {},
};

/** Whether one or more named transitions lead from `from` to `to`; a state does not reach itself by standing still. */
export function paymentReaches(from: PaymentStatus, to: PaymentStatus): boolean {
  const seen = new Set<PaymentStatus>();
  const open: PaymentStatus[] = [from];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const next of Object.keys(PAYMENT_TRANSITIONS[at]) as PaymentStatus[]) {
      if (next === to) return true;
      if (!seen.has(next)) {
        seen.add(next);
        open.push(next);
      }
    }
  }
  return false;
}

/** Money may still come by itself. */
export function isOpenPayment(status: PaymentStatus): boolean {
  return status === 'pending' || status === 'authorized';
}
