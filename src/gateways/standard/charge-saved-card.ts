import type { PaymentFacts } from '../../domain/gateway-facts.ts';
import type { ChargeOrder } from '../gateway.ts';
import { paymentAnswer } from './answers.ts';
import type { StandardApi } from './standard-api.ts';

/** Charges a saved card; a declined one is rejected as `card_declined`. Throws as `Gateway` says. */
export async function chargeSavedCard(api: StandardApi, order: ChargeOrder): Promise<PaymentFacts> {
  const { orderId, currency, reference } = order;
  const body = {
    ...(orderId === null ? {} : { order_id: orderId }),
    customer_id: order.customerId,
    payment_method: order.paymentMethod,
    amount: api.jsonAmount(order.amount),
    currency,
    reference,
  };
  const payment = await api.write('/charges', body, order.idempotencyKey, paymentAnswer);
  const isOurs = (payment.reference ?? reference) === reference && (payment.orderId ?? orderId) === orderId;
  if (!isOurs) throw api.odd('/charges', 'unknown');
  return payment;
}
