import { GatewayError } from '../../domain/gateway-error.ts';
import type { PaymentFacts } from '../../domain/gateway-facts.ts';
import type { AuthorizationOrder } from '../gateway.ts';
import { intentFacts } from './facts.ts';
import { isChargeId, isStripeId, stripeIdempotencyKey } from './ids.ts';
import type { StripeAccount } from './stripe-account.ts';

/**
 * Cancels a PaymentIntent, which releases what is authorised. A charge without one has no such call: Stripe lets it go by a
 * refund, which would give back money that somebody has captured meanwhile, so it is left to expire.
 */
export async function voidPayment(
  { source, api, refuse }: StripeAccount,
  { paymentId, idempotencyKey }: AuthorizationOrder,
): Promise<PaymentFacts> {
  if (!isStripeId(paymentId)) throw refuse(`has no payments with ids like ${paymentId}`, 'unknown_payment');
  if (isChargeId(paymentId)) {
    const message = `${source} cannot void a charge that has no PaymentIntent, so nothing was sent.`;
    throw new GatewayError(message, { kind: 'rejected', code: 'not_supported' });
  }
  const options = { idempotencyKey: stripeIdempotencyKey(idempotencyKey) };
  return api.write(
    { what: `void ${paymentId}` },
    () => api.sdk.paymentIntents.cancel(paymentId, {}, options),
    intentFacts,
  );
}
