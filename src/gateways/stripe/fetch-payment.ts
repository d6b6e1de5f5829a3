import type { PaymentFacts } from '../../domain/gateway-facts.ts';
import { objectIn } from '../event-body.ts';
import { isPresent } from '../fields.ts';
import { chargeFacts, hasIntent, intentFacts, orderOfSession } from './facts.ts';
import { isChargeId, isStripeId } from './ids.ts';
import { readPage, type StripeApi } from './stripe-api.ts';

/** The payment as Stripe shows it now; null where it knows none of this id. Throws `temporary`. */
export async function fetchPayment(api: StripeApi, paymentId: string): Promise<PaymentFacts | null> {
  if (!isStripeId(paymentId)) return null;
  const what = `show the payment ${paymentId}`;
  const isCharge = isChargeId(paymentId);
  const answer = isCharge
    ? await api.read(what, () => api.sdk.charges.retrieve(paymentId))
    : await api.read(what, () => api.sdk.paymentIntents.retrieve(paymentId, { expand: ['latest_charge'] }));
  // A charge under a PaymentIntent is a part of that payment; taken for one of its own, it would count twice.
  if (answer === null || (isCharge && hasIntent(answer))) return null;
  const facts = isCharge ? chargeFacts(answer) : intentFacts(answer);
  if (facts?.paymentId !== paymentId) throw api.misread(what, 'temporary');
  if (isCharge || isPresent(objectIn(answer, 'metadata')['order_id'])) return facts;
  return { ...facts, orderId: await orderByCheckout(api, paymentId) };
}

/** For a PaymentIntent that does not say itself which order it is for: what its Checkout session says. */
async function orderByCheckout(api: StripeApi, intentId: string): Promise<string | null> {
  const what = `show the Checkout session of ${intentId}`;
  const list = () => api.sdk.checkout.sessions.list({ payment_intent: intentId, limit: 1 });
  const answer = await api.read(what, list, ({ statusCode }) => statusCode === 404);
  if (answer === null) return null;
  const page = readPage(answer);
  if (page === null) throw api.misread(what, 'temporary');
  return orderOfSession(page.objects[0]);
}
