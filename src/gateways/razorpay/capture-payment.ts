import type { PaymentFacts } from '../../domain/gateway-facts.ts';
import { MAX_JSON_AMOUNT, formatMoney } from '../../domain/money.ts';
import type { AuthorizationOrder } from '../gateway.ts';
import { toGatewayAmount } from '../minor-units.ts';
import { RAZORPAY_CURRENCIES } from './currencies.ts';
import { paymentFacts } from './facts.ts';
import type { RazorpayAccount } from './razorpay-account.ts';

/**
 * Captures an authorised payment, whole. Razorpay knows no idempotency key here and needs none: a payment is captured once,
 * and the second time is refused. Throws as `Gateway` says.
 */
export async function capturePayment(
  { source, api, refuse, misread }: RazorpayAccount,
  { paymentId, amount, currency }: AuthorizationOrder,
): Promise<PaymentFacts> {
  const literal = toGatewayAmount(amount, currency, RAZORPAY_CURRENCIES);
  if (literal === null || literal <= 0n || literal > MAX_JSON_AMOUNT) {
    const money = formatMoney({ amount, currency });
    throw refuse(`${source} cannot be told ${money} exactly, so nothing was sent.`, 'amount_not_exact');
  }
  const path = `/v1/payments/${encodeURIComponent(paymentId)}/capture`;
  const facts = paymentFacts(await api.post(path, { amount: Number(literal), currency }, {}));
  if (facts?.paymentId !== paymentId) throw misread(`the capture of ${paymentId}`, 'unknown');
  return facts;
}
