/**
 * Every id of ours is spelt here, in both directions. All of them are derived from business facts: the same fact gives
 * the same id on every machine and in every year (E5, B1).
 *
 * Parts are joined by ':'; inside a part ':' and '%' are percent-encoded, so that ids read back exactly.
 */
export function encodePart(part: string): string {
  return part.replaceAll('%', '%25').replaceAll(':', '%3A');
}

function decodePart(part: string): string {
  return part.replaceAll('%3A', ':').replaceAll('%25', '%');
}

function join(...parts: readonly string[]): string {
  return parts.map(encodePart).join(':');
}

/** `payment:{source}:{payment_id}`: the workflow that is the mutex of one payment. */
export function paymentWorkflowId(source: string, paymentId: string): string {
  return join('payment', source, paymentId);
}

/** The inverse of `paymentWorkflowId`; null for any other id, another spelling of the same parts included. */
export function parsePaymentWorkflowId(id: string): { source: string; paymentId: string } | null {
  const [, source, paymentId] = id.split(':').map(decodePart);
  if (source === undefined || paymentId === undefined) return null;
  // Spelt again: two ids of one payment would be two mutexes.
  return paymentWorkflowId(source, paymentId) === id ? { source, paymentId } : null;
}

/** Why the machine itself gives money back. */
export type AutomaticRefundKind = 'extra_capture' | 'late_capture';

/** The id of the one refund that a payment can have for being extra or late. */
export function automaticRefundId(kind: AutomaticRefundKind, source: string, paymentId: string): string {
  return join(kind, source, paymentId);
}

/** The id of a refund that somebody else began at the gateway. */
export function gatewayRefundId(source: string, refundId: string): string {
  return join('gateway', source, refundId);
}

/** The id of the one refund that stands for all that had gone back of a payment before it was imported. */
export function importedRefundId(source: string, paymentId: string): string {
  return join('imported', source, paymentId);
}

/** `refund:{refund_id}`; for the automatic ones this reads `refund:extra_capture:{source}:{payment_id}`. */
export function refundWorkflowId(refundId: string): string {
  return `refund:${refundId}`;
}

/** `order:{order_id}`: the workflow that lets an order expire. */
export function orderWorkflowId(orderId: string): string {
  return join('order', orderId);
}

/** `checkout:{order_id}:{n}`: the n-th payment that we prepare for an order. */
export function checkoutWorkflowId(orderId: string, n: number): string {
  return join('checkout', orderId, String(n));
}

/** The inverse of `orderWorkflowId`; null for any other id, another spelling included. */
export function parseOrderWorkflowId(id: string): string | null {
  const [, orderId] = id.split(':').map(decodePart);
  return orderId !== undefined && orderWorkflowId(orderId) === id ? orderId : null;
}

/** The inverse of `checkoutWorkflowId`; null for any other id, another spelling included. */
export function parseCheckoutWorkflowId(id: string): { orderId: string; n: number } | null {
  const [, orderId, digits = ''] = id.split(':').map(decodePart);
  const n = Number(digits);
  if (orderId === undefined || !Number.isSafeInteger(n) || n < 1) return null;
  return checkoutWorkflowId(orderId, n) === id ? { orderId, n } : null;
}

/** `{seller_id}:{settlement_date}`, in test mode `test:{seller_id}:{settlement_date}`: one payout per seller and day (E5). */
export function payoutId(mode: 'test' | 'live', sellerId: string, settlementDate: string): string {
  return mode === 'test' ? join('test', sellerId, settlementDate) : join(sellerId, settlementDate);
}

/** `payout:{payout_id}`: the payout's workflow, and its reference at the gateway. */
export function payoutWorkflowId(id: string): string {
  return `payout:${id}`;
}

/**
 * The Idempotency-Key under which a day's file asks for a payout. The source is part of it: the same seller and day at another
 * account is another request, and is answered with the payout that there is instead of a key conflict.
 */
export function payoutRequestKey(source: string, sellerId: string, settlementDate: string): string {
  return join('pay_out', source, sellerId, settlementDate);
}

/** `charge:{charge_id}`: likewise. */
export function chargeWorkflowId(id: string): string {
  return `charge:${id}`;
}

/** `top_up:{top_up_id}`: likewise; a payment with such a reference is for a wallet. */
export function topUpWorkflowId(id: string): string {
  return `top_up:${id}`;
}

/** `{source}:{payment_id}`: the one capture, or the one void, that a payment can have. */
export function authorizationMoveId(source: string, paymentId: string): string {
  return join(source, paymentId);
}

/** The inverse of `authorizationMoveId`; null for any other id, another spelling of the same parts included. */
export function parseAuthorizationMoveId(id: string): { source: string; paymentId: string } | null {
  const [source, paymentId] = id.split(':').map(decodePart);
  if (source === undefined || paymentId === undefined) return null;
  return authorizationMoveId(source, paymentId) === id ? { source, paymentId } : null;
}

/** `capture:{source}:{payment_id}` or `void:{source}:{payment_id}`: its workflow, and our name of the call. */
export function authorizationMoveWorkflowId(kind: 'capture' | 'void', id: string): string {
  return `${kind}:${id}`;
}

/** The top-up that a payment with this reference is for; null for any other. */
export function topUpOf(reference: string | null): string | null {
  return reference === null ? null : parseMoneyWorkflowId('top_up', reference);
}

/** The inverse of those of all kinds of money moves; null for any id of another kind. */
export function parseMoneyWorkflowId(
  kind: 'refund' | 'payout' | 'charge' | 'top_up' | 'capture' | 'void',
  id: string,
): string | null {
  return id.startsWith(`${kind}:`) && id.length > kind.length + 1 ? id.slice(kind.length + 1) : null;
}

/** `reconcile:{source}`: looks after the runs of a source; also the schedule that does so. */
export function reconcileWorkflowId(source: string): string {
  return join('reconcile', source);
}

/** The inverse, for the runs of the schedule too. */
export function parseReconcileWorkflowId(id: string): string | null {
  return sourceOfRun('reconcile', id);
}

/** `find-missing-webhooks:{source}`: the search for webhooks of a source that never came. */
export function findMissingWorkflowId(source: string): string {
  return join('find-missing-webhooks', source);
}

/** The inverse, for the runs of the schedule too. */
export function parseFindMissingWorkflowId(id: string): string | null {
  return sourceOfRun('find-missing-webhooks', id);
}

/** A scheduled run's id has its time behind it, which Temporal writes as `-2026-11-30T12:00:00Z`. */
function sourceOfRun(kind: string, id: string): string | null {
  const [of, source] = id.replace(/-\d{4}-\d\d-\d\dT[\d:.]+Z$/, '').split(':');
  return of === kind && source !== undefined && source !== '' ? decodePart(source) : null;
}

/** `outbox:{id}`: the delivery of one announced event, and the qualified id of that event. */
export function outboxEventId(id: string): string {
  return join('outbox', id);
}

/** The inverse of `outboxEventId`, with the row's number; null for any other id, another spelling included. */
export function parseOutboxEventId(id: string): string | null {
  const [, digits = ''] = id.split(':');
  return /^[1-9]\d{0,18}$/.test(digits) && outboxEventId(digits) === id ? digits : null;
}

/** The consumer that stands for the endpoints of other services, each a target of its own. */
export const WEBHOOK_CONSUMER = 'webhook';
/** The target of a consumer that has one only. */
export const ONLY_TARGET = '-';

/** A consumer's name at the gate (C1): `webhook:{endpoint_id}` where it has several targets. */
export function gateConsumer(consumer: string, target: string): string {
  return target === ONLY_TARGET ? consumer : join(consumer, target);
}

/** One delivery of one event, as its workflow and its dead letter name it. */
export function deliveryKey(consumer: string, target: string): string {
  return join(consumer, target);
}

/** `{source}:{event_id}`: an event's name where events of several sources meet (C1). */
export function qualifiedEventId(source: string, eventId: string): string {
  return join(source, eventId);
}

/** The key of a business event in the ledger (C2): never the gateway's event id. */
export function capturedPostingKey(source: string, paymentId: string): string {
  return join('captured', source, paymentId);
}

/** @param repeat how often the bank had sent it back before */
export function refundedPostingKey(refundId: string, repeat = 0): string {
  return repeated(`refunded:${refundId}`, repeat);
}

function repeated(key: string, repeat: number): string {
  return repeat === 0 ? key : `${key}#${repeat + 1}`;
}

export function paidOutPostingKey(payout: string, repeat = 0): string {
  return repeated(`paid_out:${payout}`, repeat);
}

/** The bank sent a payout back. */
export function payoutReturnedPostingKey(payout: string, repeat = 0): string {
  return repeated(`payout_returned:${payout}`, repeat);
}

/** The bank sent a succeeded refund back. */
export function refundReturnedPostingKey(refundId: string, repeat = 0): string {
  return repeated(`refund_returned:${refundId}`, repeat);
}

/** `{source}:{dispute_id}`: a dispute's name in its history, where those of several sources meet. */
export function disputeName(source: string, disputeId: string): string {
  return join(source, disputeId);
}

/** `dispute:{source}:{dispute_id}`: what took a consequence back, where otherwise a refund's id stands. */
export function disputeKey(source: string, disputeId: string): string {
  return join('dispute', source, disputeId);
}

/**
 * `dispute_lost:{source}:{dispute_id}`, …: the business event in the ledger. A '#' of the gateway's id is encoded, so that
 * none reads like another one's repeat.
 *
 * @param repeat tells it from others of its kind: how often this had happened to it before, or how much else had
 */
export function disputePostingKey(
  what: 'opened' | 'won' | 'lost' | 'corrected' | 'fee' | 'revoked' | 'restored',
  source: string,
  disputeId: string,
  repeat = 0,
): string {
  return repeated(join(`dispute_${what}`, source, disputeId).replaceAll('#', '%23'), repeat);
}

/**
 * What we send a gateway as idempotency key; a new attempt number only after a definite rejection was repaired (F3). A '#'
 * of the reference is encoded, so that no payment's own id reads like another one's second attempt.
 */
export function gatewayCallKey(reference: string, attempt: number): string {
  const key = reference.replaceAll('#', '%23');
  return attempt === 1 ? key : `${key}#${attempt}`;
}

/** The id of a dead letter: its kind and what it is about, so that the same trouble is one row. */
export function deadLetterId(kind: string, ...about: readonly string[]): string {
  return join(kind, ...about);
}

/** PostgreSQL's advisory lock for an order that may not exist yet (B7); hashed to 64 bits by the database. */
export function orderLockName(orderId: string): string {
  return join('order', orderId);
}

/** `alerts:{channel}`: the workflow that tells people on one channel. */
export function alertsWorkflowId(channel: string): string {
  return join('alerts', channel);
}

/** The inverse of `alertsWorkflowId`; null for any other id, another spelling included. */
export function parseAlertsWorkflowId(id: string): string | null {
  const [, channel] = id.split(':').map(decodePart);
  return channel !== undefined && alertsWorkflowId(channel) === id ? channel : null;
}

/** The key of the alert that a gateway refuses the credentials of this account. */
export function credentialsAlertKey(source: string): string {
  return join('credentials', source);
}

/** What an alert about a promise is known by that the audit found broken. */
export function auditAlertKey(invariant: string): string {
  return join('audit', invariant);
}

/** What the alert is known by that a source's events cannot be listed. */
export function listingAlertKey(source: string): string {
  return join('listing', source);
}
