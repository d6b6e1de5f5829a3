import type { DisputeStatus, EventReading, EventSubject } from '../../domain/event-reading.ts';
import { isBare, isJsonObject, objectIn, type JsonObject } from '../event-body.ts';
import type { RawFacts } from '../raw-facts.ts';

type Claim = NonNullable<EventReading['claimed']>;

export interface EventKind {
  readonly subject: EventSubject;
  /** The facts, or a sentence on why there is nothing to do. */
  readonly read: (object: JsonObject) => RawFacts | { readonly ignore: string };
  /** The type of object whose id alone tells the payment or payout; null: the id alone tells nothing. */
  readonly thinObject: 'payment_intent' | 'payout' | null;
}

/** Stripe's refund states; `canceled` gave nothing back, and `requires_action` waits for the customer. */
const REFUND_STATES: ReadonlyMap<unknown, 'pending' | 'succeeded' | 'failed'> = new Map([
  ['pending', 'pending'],
  ['requires_action', 'pending'],
  ['succeeded', 'succeeded'],
  ['failed', 'failed'],
  ['canceled', 'failed'],
]);

/**
 * States of a dispute. An inquiry that closes and a dispute that was prevented cost nothing; an appeal is made when it was lost,
 * and the money is gone until the appeal is won.
 */
const DISPUTE_STATES: ReadonlyMap<unknown, DisputeStatus> = new Map<unknown, DisputeStatus>([
  ['warning_needs_response', 'opened'],
  ['warning_under_review', 'opened'],
  ['needs_response', 'opened'],
  ['under_review', 'opened'],
  ['appeal_needs_response', 'lost'],
  ['appeal_under_review', 'lost'],
  ['won', 'won'],
  ['warning_closed', 'won'],
  ['prevented', 'won'],
  ['lost', 'lost'],
]);

/** A Map, because a type such as `constructor` must find nothing. */
export const EVENT_KINDS: ReadonlyMap<string, EventKind> = new Map<string, EventKind>([
  ['payment_intent.processing', intent('pending', 'amount')],
  ['payment_intent.amount_capturable_updated', intent('authorized', 'amount_capturable')],
  ['payment_intent.succeeded', intent('captured', 'amount_received')],
  ['payment_intent.payment_failed', intent('failed', 'amount')],
  // Final at Stripe: nobody can pay a canceled intent, as nobody can pay what has expired.
  ['payment_intent.canceled', intent('expired', 'amount')],
  ['charge.succeeded', { subject: 'payment', thinObject: null, read: readCharge }],
  ['charge.captured', { subject: 'payment', thinObject: null, read: readCharge }],
  ['charge.refunded', { subject: 'refund', thinObject: null, read: readRefundedCharge }],
  ['refund.created', refund()],
  ['refund.updated', refund()],
  ['refund.failed', refund()],
  ['charge.refund.updated', refund()],
  ['checkout.session.completed', { subject: 'payment', thinObject: null, read: readSession }],
  ['charge.dispute.created', { subject: 'dispute', thinObject: null, read: (object) => dispute(object, 'opened') }],
  ['charge.dispute.closed', { subject: 'dispute', thinObject: null, read: readClosedDispute }],
  ['charge.dispute.updated', { subject: 'dispute', thinObject: null, read: readChangedDispute }],
  ['charge.dispute.funds_withdrawn', { subject: 'dispute', thinObject: null, read: readWithdrawal }],
  ['charge.dispute.funds_reinstated', { subject: 'dispute', thinObject: null, read: readChangedDispute }],
  ['payout.paid', payout('paid')],
  ['payout.failed', payout('failed')],
  ['payout.canceled', payout('failed')],
]);

export function readRefundState(status: unknown): 'pending' | 'succeeded' | 'failed' | null {
  // Some payment methods leave it empty until the bank has answered.
  return status === null ? 'pending' : (REFUND_STATES.get(status) ?? null);
}

/** The PaymentIntent's id, expanded or not; a charge without one is a payment by itself. */
export function paymentOf(object: JsonObject, charge: unknown): unknown {
  return idOf(object['payment_intent']) ?? charge;
}

/** The id of a field that holds an id or, expanded, the object itself. */
export function idOf(value: unknown): unknown {
  return isJsonObject(value) ? value['id'] : value;
}

function ordersOf(object: JsonObject): unknown[] {
  const expanded = objectIn(object, 'payment_intent');
  return [object, expanded].map((holder) => objectIn(holder, 'metadata')['order_id']);
}

function referenceOf(object: JsonObject): unknown {
  return objectIn(object, 'metadata')['paidonce_reference'];
}

function intent(claim: Claim, amountField: string): EventKind {
  return {
    subject: 'payment',
    thinObject: 'payment_intent',
    read: (object) => ({
      objectId: object['id'],
      paymentId: object['id'],
      claimed: isBare(object) ? null : claim,
      amount: object[amountField] ?? object['amount'],
      currency: object['currency'],
      orderIds: ordersOf(object),
      reference: referenceOf(object),
    }),
  };
}

function readCharge(object: JsonObject): RawFacts {
  const paymentId = paymentOf(object, object['id']);
  const captured = object['captured'];
  const claimed = captured === true ? 'captured' : 'authorized';
  return {
    objectId: paymentId,
    paymentId,
    claimed: typeof captured === 'boolean' ? claimed : null,
    amount: captured === true ? (object['amount_captured'] ?? object['amount']) : object['amount'],
    currency: object['currency'],
    orderIds: ordersOf(object),
    reference: referenceOf(object),
  };
}

/** An authorization that was given up, which older versions show as a refund: no money had come. */
function readRelease(object: JsonObject, paymentId: unknown): RawFacts {
  return {
    ...{ subject: 'payment', objectId: paymentId, paymentId, claimed: null, amount: null, reference: null },
    currency: object['currency'],
    orderIds: ordersOf(object),
  };
}

/**
 * The charge names the sum of all its refunds, and not always which one is new (older versions list them, newer ones do
 * not): a hint to look at the payment's refunds, and no claim of its own.
 */
function readRefundedCharge(object: JsonObject): RawFacts {
  if (object['captured'] === false) return readRelease(object, paymentOf(object, object['id']));
  const listed = objectIn(object, 'refunds')['data'];
  const newest: unknown = Array.isArray(listed) ? listed[0] : undefined;
  return {
    objectId: idOf(newest),
    paymentId: paymentOf(object, object['id']),
    claimed: null,
    amount: null,
    currency: object['currency'],
    orderIds: ordersOf(object),
    reference: isJsonObject(newest) ? referenceOf(newest) : null,
  };
}

/** Nothing went out of the account's balance, though the refund is through: nothing had come in. */
function isRelease(refund: JsonObject): boolean {
  if (refund['reason'] === 'expired_uncaptured_charge') return true;
  return refund['status'] === 'succeeded' && refund['balance_transaction'] === null;
}

function refund(): EventKind {
  return {
    subject: 'refund',
    thinObject: null,
    read: (object) => {
      if (isRelease(object)) return readRelease(object, paymentOf(object, idOf(object['charge'])));
      const status = object['status'];
      const claimed = status === undefined ? null : readRefundState(status);
      const strange = status !== undefined && claimed === null;
      return {
        objectId: object['id'],
        paymentId: paymentOf(object, idOf(object['charge'])),
        claimed,
        amount: object['amount'],
        currency: object['currency'],
        orderIds: ordersOf(object),
        reference: referenceOf(object),
        ...(strange ? { problem: 'The refund is in a state that is not known here.' } : {}),
      };
    },
  };
}

function readSession(object: JsonObject): RawFacts | { ignore: string } {
  const paymentId = idOf(object['payment_intent']);
  if (paymentId === null || paymentId === undefined) {
    return { ignore: 'The Checkout session has no payment of its own: nothing was due, or it set up a subscription.' };
  }
  const status = object['payment_status'];
  return {
    objectId: paymentId,
    paymentId,
    // Completed and unpaid: the customer is through, and the bank is not.
    claimed: status === 'paid' ? 'captured' : status === 'unpaid' ? 'pending' : null,
    amount: object['amount_total'],
    currency: object['currency'],
    orderIds: [...ordersOf(object), object['client_reference_id']],
    reference: referenceOf(object),
  };
}

function dispute(object: JsonObject, claimed: Claim | null): RawFacts {
  return {
    objectId: object['id'],
    paymentId: paymentOf(object, idOf(object['charge'])),
    claimed,
    amount: object['amount'],
    currency: object['currency'],
    orderIds: ordersOf(object),
    reference: null,
    withheld: object['status'] === undefined ? null : withholdsMoney(object['status']),
  };
}

/** Null for a state that is not known here. */
export function readDisputeState(status: unknown): DisputeStatus | null {
  return DISPUTE_STATES.get(status) ?? null;
}

/** Whether the money is kept back: not while the bank only inquires, which ends in `warning_closed` or becomes a dispute. */
export function withholdsMoney(status: unknown): boolean {
  return typeof status !== 'string' || !status.startsWith('warning_');
}

/** Something about it changed, its money or its state: what it is now is looked up. */
function readChangedDispute(object: JsonObject): RawFacts {
  return dispute(object, readDisputeState(object['status']));
}

/** The type says it, whatever state the dispute was in when the event was made. */
function readWithdrawal(object: JsonObject): RawFacts {
  return { ...readChangedDispute(object), withheld: true };
}

function readClosedDispute(object: JsonObject): RawFacts {
  const end = readDisputeState(object['status']);
  if (end !== null && end !== 'opened') return dispute(object, end);
  return { ...dispute(object, null), problem: 'The dispute was closed, and its end is not known here.' };
}

function payout(claimed: Claim): EventKind {
  return {
    subject: 'payout',
    thinObject: 'payout',
    read: (object) => ({
      objectId: object['id'],
      paymentId: null,
      claimed: isBare(object) ? null : claimed,
      amount: object['amount'],
      currency: object['currency'],
      orderIds: [],
      reference: referenceOf(object),
    }),
  };
}
