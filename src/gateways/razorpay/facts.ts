import type { PaymentFacts, RefundFacts } from '../../domain/gateway-facts.ts';
import type { PaymentStatus } from '../../domain/payment-states.ts';
import { isJsonObject, type JsonObject } from '../event-body.ts';
import { isPresent, readAmount, readCurrency, readId, readReference } from '../fields.ts';
import { toIsoAmount } from '../minor-units.ts';
import { RAZORPAY_CURRENCIES } from './currencies.ts';
import { noteOf, readRefundState } from './event-kinds.ts';

/**
 * A payment entity as facts; null for an answer that is none.
 *
 * @param order the entity of Razorpay's order that the payment is for, whose notes count where the payment has none
 */
export function paymentFacts(payment: unknown, order: unknown = null): PaymentFacts | null {
  if (!isJsonObject(payment) || payment['entity'] !== 'payment') return null;
  const paymentId = readId(payment['id']);
  const status = paymentStatus(payment);
  if (typeof paymentId !== 'string' || status === null) return null;
  const currency = readCurrency(payment['currency']);
  return {
    paymentId,
    orderId: readId([payment, order].map((entity) => noteOf(entity, 'order_id')).find(isPresent)) ?? null,
    reference: readReference(noteOf(payment, 'paidonce_reference')),
    status,
    amount: isoAmount(payment['amount'], currency),
    currency: currency ?? null,
    amountRefunded: isoAmount(payment['amount_refunded'], currency),
    // No entity of Razorpay's says whose books it is in.
    mode: null,
  };
}

/** A refund entity as facts; null for an answer that is none, or whose amount we cannot express exactly. */
export function refundFacts(refund: unknown, paymentId: string): RefundFacts | null {
  if (!isJsonObject(refund) || refund['entity'] !== 'refund' || refund['payment_id'] !== paymentId) return null;
  const refundId = readId(refund['id']);
  const status = readRefundState(refund['status']);
  const currency = readCurrency(refund['currency']);
  const amount = isoAmount(refund['amount'], currency);
  if (typeof refundId !== 'string' || status === null || typeof currency !== 'string' || amount === null) return null;
  const reference = readReference(noteOf(refund, 'paidonce_reference'));
  return { refundId, paymentId, amount, currency, status, reference, failureCode: null };
}

function paymentStatus(payment: JsonObject): PaymentStatus | null {
  switch (payment['status']) {
    case 'created':
    // Cash on delivery: ordered, and not paid yet.
    case 'pending':
      return 'pending';
    case 'authorized':
      return 'authorized';
    case 'captured':
      return 'captured';
    case 'refunded':
      // An authorization that nobody captured in time goes back by itself: that money never was the merchant's.
      return payment['captured'] === false ? 'expired' : 'captured';
    case 'failed':
      return 'failed';
    default:
      return null;
  }
}

/** Null for what is absent and for what cannot be had exactly: neither is an amount, and least of all zero. */
export function isoAmount(value: unknown, currency: string | null | undefined): bigint | null {
  const counted = readAmount(value);
  if (typeof counted !== 'bigint' || typeof currency !== 'string') return null;
  return toIsoAmount(counted, currency, RAZORPAY_CURRENCIES);
}
