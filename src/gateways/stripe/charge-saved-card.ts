import type { PaymentFacts } from '../../domain/gateway-facts.ts';
import type { ChargeOrder } from '../gateway.ts';
import { declined, declinedAs } from './declined.ts';
import { isStripeId, stripeIdempotencyKey } from './ids.ts';
import { offSessionDecline, offSessionFacts } from './off-session-facts.ts';
import type { StripeAccount } from './stripe-account.ts';

/**
 * Charges a card that Stripe keeps for the customer, who is not there. A declined card is rejected, and so is one whose bank
 * asks for authentication (`authentication_required`). Throws as `Gateway` says.
 */
export async function chargeSavedCard(account: StripeAccount, order: ChargeOrder): Promise<PaymentFacts> {
  const { source, api } = account;
  const { orderId, currency, customerId, paymentMethod, reference } = order;
  const amount = Number(literalPayment(account, order));
  const what = `charge the saved card for ${reference}`;

  async function send(): Promise<unknown> {
    try {
      return await api.sdk.paymentIntents.create(
        {
          amount,
          currency: currency.toLowerCase(),
          customer: customerId,
          payment_method: paymentMethod,
          confirm: true,
          off_session: true,
          metadata: { ...(orderId === null ? {} : { order_id: orderId }), paidonce_reference: reference },
        },
        { idempotencyKey: stripeIdempotencyKey(order.idempotencyKey) },
      );
    } catch (error) {
      throw declined(error, source, what) ?? error;
    }
  }

  const { facts, decline } = await api.write({ what }, send, (intent) => {
    const facts = offSessionFacts(intent);
    return facts === null ? null : { facts, decline: offSessionDecline(intent) };
  });
  if (facts.status === 'failed') throw declinedAs(decline, source, what);
  return facts;
}

/** What Stripe is told to charge; refused where the charge could not be what was asked for. */
function literalPayment({ refuse, payableAmount }: StripeAccount, order: ChargeOrder): bigint {
  const { amount, currency, customerId, paymentMethod } = order;
  // Neither is repeated in the message: what is no id may be an address, or the number of a card.
  if (!isStripeId(customerId)) throw refuse('has no customers with such ids', 'unknown_customer');
  if (!isStripeId(paymentMethod) || !/^(pm|card|src)_/.test(paymentMethod)) {
    throw refuse('knows a saved card by its id (pm_…, card_…, src_…)', 'unknown_payment_method');
  }
  return payableAmount(amount, currency);
}
