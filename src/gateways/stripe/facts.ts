import type { PaymentFacts, RefundFacts } from '../../domain/gateway-facts.ts';
import type { PaymentStatus } from '../../domain/payment-states.ts';
import { isJsonObject, objectIn, type JsonObject } from '../event-body.ts';
import { isPresent, readAmount, readCurrency, readId, readReference } from '../fields.ts';
import { toIsoAmount } from '../minor-units.ts';
import { STRIPE_CURRENCIES } from './currencies.ts';
import { idOf, readRefundState } from './event-kinds.ts';
import { isChargeId } from './ids.ts';

/** A PaymentIntent as facts; null for an answer that is none. */
export function intentFacts(intent: unknown): PaymentFacts | null {
  if (!isJsonObject(intent) || intent['object'] !== 'payment_intent') return null;
  const status = intentStatus(intent);
  const paymentId = readId(intent['id']);
  if (status === null || typeof paymentId !== 'string') return null;
  const captured = status === 'captured' ? intent['amount_received'] : undefined;
  return {
    paymentId,
    status,
    ...commonFacts(intent, captured ?? intent['amount'], objectIn(intent, 'latest_charge')['amount_refunded']),
  };
}

/**
 * A charge without a PaymentIntent as facts; null for an answer that is none. The caller has seen to it that no
 * PaymentIntent stands above the charge, which would make it a part of another payment.
 */
export function chargeFacts(charge: unknown): PaymentFacts | null {
  if (!isJsonObject(charge) || charge['object'] !== 'charge') return null;
  const status = chargeStatus(charge);
  const paymentId = readId(charge['id']);
  if (status === null || typeof paymentId !== 'string') return null;
  const captured = status === 'captured' ? charge['amount_captured'] : undefined;
  return { paymentId, status, ...commonFacts(charge, captured ?? charge['amount'], charge['amount_refunded']) };
}

/** A refund of the payment as facts; null for an answer that is none, or whose amount we cannot express exactly. */
export function refundFacts(refund: unknown, paymentId: string): RefundFacts | null {
  if (!isJsonObject(refund) || refund['object'] !== 'refund' || !isRefundOf(refund, paymentId)) return null;
  const refundId = readId(refund['id']);
  const status = readRefundState(refund['status']);
  const currency = readCurrency(refund['currency']);
  const amount = isoAmount(refund['amount'], currency);
  if (typeof refundId !== 'string' || status === null || typeof currency !== 'string' || amount === null) return null;
  const failure = refund['failure_reason'];
  return {
    refundId,
    paymentId,
    amount,
    currency,
    status,
    reference: readReference(objectIn(refund, 'metadata')['paidonce_reference']),
    failureCode: typeof failure === 'string' ? failure.slice(0, 200) : null,
  };
}

/** The order that a Checkout session was made for. */
export function orderOfSession(session: unknown): string | null {
  const reference = isJsonObject(session) ? session['client_reference_id'] : null;
  return readId([objectIn(session, 'metadata')['order_id'], reference].find(isPresent)) ?? null;
}

/** A refund names its charge and, in newer versions, its PaymentIntent. */
function isRefundOf(refund: JsonObject, paymentId: string): boolean {
  const named = idOf(refund[isChargeId(paymentId) ? 'charge' : 'payment_intent']);
  return named === undefined || named === null || named === paymentId;
}

/** The charge belongs to a PaymentIntent, and is no payment by itself. */
export function hasIntent(charge: unknown): boolean {
  return isJsonObject(charge) && typeof idOf(charge['payment_intent']) === 'string';
}

function intentStatus(intent: JsonObject): PaymentStatus | null {
  switch (intent['status']) {
    case 'requires_payment_method':
      // Where an intent begins, and where a declined attempt leads back to.
      return isJsonObject(intent['last_payment_error']) ? 'failed' : 'pending';
    case 'requires_confirmation':
    case 'requires_action':
    case 'processing':
      return 'pending';
    case 'requires_capture':
      return 'authorized';
    case 'succeeded':
      return 'captured';
    case 'canceled':
      return 'expired';
    default:
      return null;
  }
}

function chargeStatus(charge: JsonObject): PaymentStatus | null {
  switch (charge['status']) {
    case 'pending':
      return 'pending';
    case 'failed':
      return 'failed';
    case 'succeeded':
      if (charge['captured'] === true) return 'captured';
      // An authorization that was given up is shown as refunded, though no money had moved.
      return charge['refunded'] === true ? 'expired' : 'authorized';
    default:
      return null;
  }
}

function commonFacts(
  object: JsonObject,
  amount: unknown,
  refunded: unknown,
): Omit<PaymentFacts, 'paymentId' | 'status'> {
  const metadata = objectIn(object, 'metadata');
  const currency = readCurrency(object['currency']);
  const livemode = object['livemode'];
  return {
    orderId: readId(metadata['order_id']) ?? null,
    reference: readReference(metadata['paidonce_reference']),
    amount: isoAmount(amount, currency),
    currency: currency ?? null,
    amountRefunded: isoAmount(refunded, currency),
    mode: typeof livemode === 'boolean' ? (livemode ? 'live' : 'test') : null,
  };
}

/** Null for what is absent and for what cannot be had exactly: neither is an amount, and least of all zero. */
export function isoAmount(value: unknown, currency: string | null | undefined): bigint | null {
  const counted = readAmount(value);
  if (typeof counted !== 'bigint' || typeof currency !== 'string') return null;
  return toIsoAmount(counted, currency, STRIPE_CURRENCIES);
}
