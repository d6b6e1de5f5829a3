import type { PaymentFacts } from '../../domain/gateway-facts.ts';
import type { AuthorizationOrder } from '../gateway.ts';
import { paymentFacts } from './facts.ts';
import type { RazorpayAccount } from './razorpay-account.ts';

/**
 * Captures an authorised payment, whole. Razorpay knows no idempotency key here and needs none: a payment is captured once,
 * and the second time is refused. Throws as `Gateway` says.
 */
export async function capturePayment(
  { api, literalAmount, misread }: RazorpayAccount,
  { paymentId, amount, currency }: AuthorizationOrder,
): Promise<PaymentFacts> {
  const literal = literalAmount(amount, currency);
  const path = `/v1/payments/${encodeURIComponent(paymentId)}/capture`;
  const facts = paymentFacts(await api.post(path, { amount: Number(literal), currency }, {}));
  if (facts?.paymentId !== paymentId) throw misread(`the capture of ${paymentId}`, 'unknown');
  return facts;
}
