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

/** `refund:{refund_id}`; for the automatic ones this reads `refund:extra_capture:{source}:{payment_id}`. */
export function refundWorkflowId(refundId: string): string {
  return `refund:${refundId}`;
}

/** The inverse of `refundWorkflowId`; null for any other id. */
export function parseRefundWorkflowId(id: string): string | null {
  return id.startsWith('refund:') ? id.slice('refund:'.length) : null;
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

/** `outbox:{id}`: the delivery of one announced event, and the qualified id of that event. */
export function outboxEventId(id: string): string {
  return join('outbox', id);
}

/** `{source}:{event_id}`: an event's name where events of several sources meet (C1). */
export function qualifiedEventId(source: string, eventId: string): string {
  return join(source, eventId);
}

/** The key of a business event in the ledger (C2): never the gateway's event id. */
export function capturedPostingKey(source: string, paymentId: string): string {
  return join('captured', source, paymentId);
}

export function refundedPostingKey(refundId: string): string {
  return `refunded:${refundId}`;
}

/** The bank sent a succeeded refund back. */
export function refundReturnedPostingKey(refundId: string): string {
  return `refund_returned:${refundId}`;
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
