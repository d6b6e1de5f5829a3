import type { DisputeStatus, EventReading, EventSubject } from '../../domain/event-reading.ts';
import { isBare, objectIn, type JsonObject } from '../event-body.ts';
import type { RawFacts } from '../raw-facts.ts';

type Claim = NonNullable<EventReading['claimed']>;
type PayoutState = 'pending' | 'paid' | 'failed';

export interface EventKind {
  readonly subject: EventSubject;
  readonly read: (payload: JsonObject) => RawFacts;
}

const REFUND_STATES: ReadonlyMap<unknown, 'pending' | 'succeeded' | 'failed'> = new Map([
  ['pending', 'pending'],
  ['created', 'pending'],
  ['processed', 'succeeded'],
  ['failed', 'failed'],
]);

const PAYOUT_STATES: ReadonlyMap<unknown, PayoutState> = new Map<unknown, PayoutState>([
  ['pending', 'pending'],
  ['queued', 'pending'],
  ['scheduled', 'pending'],
  ['processing', 'pending'],
  ['processed', 'paid'],
  ['reversed', 'failed'],
  ['rejected', 'failed'],
  ['cancelled', 'failed'],
  ['failed', 'failed'],
]);

/** Closed without a verdict is a dispute that cost nothing. */
const DISPUTE_STATES: ReadonlyMap<unknown, DisputeStatus> = new Map<unknown, DisputeStatus>([
  ['open', 'opened'],
  ['under_review', 'opened'],
  ['won', 'won'],
  ['closed', 'won'],
  ['lost', 'lost'],
]);

/** A Map, because a type such as `constructor` must find nothing. */
export const EVENT_KINDS: ReadonlyMap<string, EventKind> = new Map<string, EventKind>([
  // Cash on delivery: ordered, and not paid yet.
  ['payment.pending', payment('pending')],
  ['payment.authorized', payment('authorized')],
  ['payment.captured', payment('captured')],
  ['payment.failed', payment('failed')],
  ['order.paid', payment('captured')],
  ['refund.created', refund('pending')],
  ['refund.processed', refund('succeeded')],
  ['refund.failed', refund('failed')],
  ['payment.dispute.created', dispute('opened')],
  ['payment.dispute.under_review', dispute('opened')],
  ['payment.dispute.action_required', dispute('opened')],
  ['payment.dispute.won', dispute('won')],
  ['payment.dispute.lost', dispute('lost')],
  ['payment.dispute.closed', { subject: 'dispute', read: readClosedDispute }],
  ['payout.pending', payout('pending')],
  ['payout.queued', payout('pending')],
  ['payout.initiated', payout('pending')],
  ['payout.processed', payout('paid')],
  ['payout.reversed', payout('failed')],
  ['payout.rejected', payout('failed')],
  ['payout.failed', payout('failed')],
  ['payout.updated', { subject: 'payout', read: readUpdatedPayout }],
]);

/** Null for a state that is not known here; an absent one is a refund that has only begun. */
export function readRefundState(status: unknown): 'pending' | 'succeeded' | 'failed' | null {
  return status === undefined || status === null ? 'pending' : (REFUND_STATES.get(status) ?? null);
}

/** Null for a state that is not known here. */
export function readPayoutState(status: unknown): PayoutState | null {
  return PAYOUT_STATES.get(status) ?? null;
}

/** Null for a state that is not known here. */
export function readDisputeState(status: unknown): DisputeStatus | null {
  return DISPUTE_STATES.get(status) ?? null;
}

/** A note of the entity; where it has no notes Razorpay sends an empty list instead of an object. */
export function noteOf(entity: unknown, name: string): unknown {
  return objectIn(entity, 'notes')[name];
}

function entityOf(payload: JsonObject, name: string): JsonObject {
  return objectIn(objectIn(payload, name), 'entity');
}

function payment(claimed: Claim): EventKind {
  return {
    subject: 'payment',
    read: (payload) => {
      const entity = entityOf(payload, 'payment');
      return {
        objectId: entity['id'],
        paymentId: entity['id'],
        claimed: isBare(entity) ? null : claimed,
        amount: entity['amount'],
        currency: entity['currency'],
        orderIds: [noteOf(entity, 'order_id'), noteOf(entityOf(payload, 'order'), 'order_id')],
        reference: noteOf(entity, 'paidonce_reference'),
      };
    },
  };
}

function refund(claimed: Claim): EventKind {
  return {
    subject: 'refund',
    read: (payload) => {
      const entity = entityOf(payload, 'refund');
      const paid = entityOf(payload, 'payment');
      const paymentId = entity['payment_id'] ?? paid['id'];
      if (paid['captured'] === false) return { ...readRelease(paid), objectId: paymentId, paymentId };
      return {
        objectId: entity['id'],
        paymentId,
        claimed: isBare(entity) ? null : claimed,
        amount: entity['amount'],
        currency: entity['currency'],
        orderIds: [noteOf(entity, 'order_id'), noteOf(paid, 'order_id')],
        reference: noteOf(entity, 'paidonce_reference'),
      };
    },
  };
}

/** An authorization that nobody captured in time goes back by itself: that money never was the merchant's. */
function readRelease(paid: JsonObject): Omit<RawFacts, 'objectId' | 'paymentId'> {
  return {
    subject: 'payment',
    claimed: paid['status'] === 'refunded' ? 'expired' : null,
    amount: paid['amount'],
    currency: paid['currency'],
    orderIds: [noteOf(paid, 'order_id')],
    reference: noteOf(paid, 'paidonce_reference'),
  };
}

function dispute(claimed: Claim): EventKind {
  return { subject: 'dispute', read: (payload) => disputeFacts(payload, claimed) };
}

function disputeFacts(payload: JsonObject, claimed: Claim): RawFacts {
  const entity = entityOf(payload, 'dispute');
  const paid = entityOf(payload, 'payment');
  return {
    objectId: entity['id'],
    paymentId: entity['payment_id'] ?? paid['id'],
    claimed,
    amount: entity['amount'],
    currency: entity['currency'],
    orderIds: [noteOf(paid, 'order_id')],
    reference: null,
  };
}

/** Closed without a verdict is a dispute that cost nothing. */
function readClosedDispute(payload: JsonObject): RawFacts {
  return disputeFacts(payload, entityOf(payload, 'dispute')['status'] === 'lost' ? 'lost' : 'won');
}

function payout(claimed: Claim): EventKind {
  return { subject: 'payout', read: (payload) => payoutFacts(entityOf(payload, 'payout'), claimed) };
}

function readUpdatedPayout(payload: JsonObject): RawFacts {
  const entity = entityOf(payload, 'payout');
  const claimed = readPayoutState(entity['status']);
  if (claimed !== null) return payoutFacts(entity, claimed);
  return { ...payoutFacts(entity, null), problem: 'The payout is in a state that is not known here.' };
}

function payoutFacts(entity: JsonObject, claimed: Claim | null): RawFacts {
  return {
    objectId: entity['id'],
    paymentId: null,
    claimed,
    amount: entity['amount'],
    currency: entity['currency'],
    orderIds: [],
    // Not `reference_id`: payouts that are none of ours may bear one, too.
    reference: noteOf(entity, 'paidonce_reference'),
  };
}
