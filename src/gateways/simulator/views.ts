import type { Payment, Payout, Refund, State } from './state.ts';

/** A payment as the protocol shows it; what the payment lacks is left out. */
export function paymentView(state: State, url: string, payment: Payment): Record<string, unknown> {
  const { id, order_id, reference, status, amount, currency, mode } = payment;
  const succeeded = state.refunds.by('payment', id).filter((refund) => refund.status === 'succeeded');
  return {
    payment_id: id,
    order_id,
    reference,
    status,
    ...(amount === null ? {} : { amount }),
    ...(currency === null ? {} : { currency }),
    amount_refunded: succeeded.reduce((sum, refund) => sum + refund.amount, 0),
    mode,
    checkout_url: `${url}/checkout/${encodeURIComponent(id)}`,
  };
}

export function refundView({ id, completes_at: _completesAt, ...facts }: Refund): Record<string, unknown> {
  return { refund_id: id, ...facts };
}

export function payoutView({ id, completes_at: _completesAt, ...facts }: Payout): Record<string, unknown> {
  return { payout_id: id, ...facts };
}
