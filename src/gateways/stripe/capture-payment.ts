import type { PaymentFacts } from '../../domain/gateway-facts.ts';
import type { AuthorizationOrder } from '../gateway.ts';
import { chargeFacts, intentFacts } from './facts.ts';
import { isChargeId, isStripeId, stripeIdempotencyKey } from './ids.ts';
import type { StripeAccount } from './stripe-account.ts';

/** Captures an authorised PaymentIntent, or a charge without one; Stripe releases the rest. Throws as `Gateway` says. */
export async function capturePayment(account: StripeAccount, order: AuthorizationOrder): Promise<PaymentFacts> {
  const { api, refuse, literalAmount } = account;
  const { paymentId, currency } = order;
  if (!isStripeId(paymentId)) throw refuse(`has no payments with ids like ${paymentId}`, 'unknown_payment');
  const amount = Number(literalAmount(order.amount, currency));
  const options = { idempotencyKey: stripeIdempotencyKey(order.idempotencyKey) };
  const call = { what: `capture ${paymentId}`, badAmount: 'capture_exceeds_authorized' };
  return isChargeId(paymentId)
    ? api.write(call, () => api.sdk.charges.capture(paymentId, { amount }, options), chargeFacts)
    : api.write(
        call,
        () => api.sdk.paymentIntents.capture(paymentId, { amount_to_capture: amount }, options),
        intentFacts,
      );
}
