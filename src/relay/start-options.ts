import { TypedSearchAttributes, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import type { SearchAttributePair } from '@temporalio/common';
import type { WorkflowStartOptions } from '@temporalio/client';
import {
  alertsWorkflowId,
  authorizationMoveId,
  authorizationMoveWorkflowId,
  chargeWorkflowId,
  checkoutWorkflowId,
  findMissingWorkflowId,
  orderWorkflowId,
  outboxEventId,
  paymentWorkflowId,
  payoutWorkflowId,
  reconcileWorkflowId,
  refundWorkflowId,
  topUpWorkflowId,
} from '../domain/keys.ts';
import { PAIDONCE_ORDER_ID, PAIDONCE_PAYMENT_ID, PAIDONCE_SOURCE, TASK_QUEUE } from '../workflows/messages.ts';

export type StartOptions = WorkflowStartOptions & {
  readonly workflowId: string;
  readonly taskQueue: string;
  readonly workflowIdConflictPolicy: WorkflowIdConflictPolicy;
  args: [];
};

interface About {
  readonly workflowId: string;
  /** What a support person reads in the list of runs. */
  readonly summary: string;
  readonly orderId: string | null;
  readonly paymentId?: string | null;
  readonly source?: string | null;
}

/**
 * Whoever starts a workflow of ours starts it like this: a run that is open goes on, and a closed one may be followed by
 * another, since PostgreSQL and not the engine remembers what was done.
 */
function startOptions({ workflowId, summary, orderId, paymentId, source }: About): StartOptions {
  const attributes: SearchAttributePair[] = [];
  if (orderId !== null) attributes.push({ key: PAIDONCE_ORDER_ID, value: orderId });
  if (paymentId != null) attributes.push({ key: PAIDONCE_PAYMENT_ID, value: paymentId });
  if (source != null) attributes.push({ key: PAIDONCE_SOURCE, value: source });
  return {
    workflowId,
    taskQueue: TASK_QUEUE,
    args: [],
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    staticSummary: summary,
    typedSearchAttributes: new TypedSearchAttributes(attributes),
  };
}

export function paymentStartOptions(source: string, paymentId: string, orderId: string | null): StartOptions {
  return startOptions({
    workflowId: paymentWorkflowId(source, paymentId),
    summary: `Payment ${paymentId} of ${source}${orderId === null ? '' : ` for order ${orderId}`}`,
    ...{ orderId, paymentId, source },
  });
}

export function refundStartOptions(refund: {
  readonly refundId: string;
  readonly source: string;
  readonly paymentId: string;
  readonly orderId: string | null;
}): StartOptions {
  return startOptions({
    workflowId: refundWorkflowId(refund.refundId),
    summary: `Refund of payment ${refund.paymentId} of ${refund.source}`,
    ...refund,
  });
}

export function checkoutStartOptions(orderId: string, n: number, source: string): StartOptions {
  return startOptions({
    workflowId: checkoutWorkflowId(orderId, n),
    summary: `Checkout ${n} of order ${orderId} at ${source}`,
    ...{ orderId, source },
  });
}

export function expiryStartOptions(orderId: string): StartOptions {
  return startOptions({ workflowId: orderWorkflowId(orderId), summary: `Expiry of order ${orderId}`, orderId });
}

export function payoutStartOptions(payoutId: string, source: string): StartOptions {
  return startOptions({
    workflowId: payoutWorkflowId(payoutId),
    summary: `Payout ${payoutId} by ${source}`,
    ...{ orderId: null, source },
  });
}

export function chargeStartOptions(chargeId: string, source: string, orderId: string): StartOptions {
  return startOptions({
    workflowId: chargeWorkflowId(chargeId),
    summary: `Charge of a saved card for order ${orderId} at ${source}`,
    ...{ orderId, source },
  });
}

export function topUpStartOptions(topUpId: string, source: string): StartOptions {
  return startOptions({
    workflowId: topUpWorkflowId(topUpId),
    summary: `Top-up of a wallet at ${source}`,
    ...{ orderId: null, source },
  });
}

export function alertsStartOptions(channel: string): StartOptions {
  return startOptions({ workflowId: alertsWorkflowId(channel), summary: `Alerts by ${channel}`, orderId: null });
}

export function deliveryStartOptions(outboxId: bigint | string, eventType: string, payload: Payload): StartOptions {
  const text = (field: string) => (typeof payload[field] === 'string' ? payload[field] : null);
  return startOptions({
    workflowId: outboxEventId(String(outboxId)),
    summary: `Tells everybody who wants to know of ${eventType}`,
    ...{ orderId: text('order_id'), paymentId: text('payment_id'), source: text('source') },
  });
}

type Payload = Readonly<Record<string, unknown>>;

/** The schedule's runs go by ids of their own: this one is a person's. */
export function reconcileStartOptions(source: string): StartOptions {
  return startOptions({
    workflowId: reconcileWorkflowId(source),
    summary: `Starts the work of ${source} again whose runs are gone, asked for by hand`,
    ...{ orderId: null, source },
  });
}

/** Likewise. */
export function findMissingStartOptions(source: string): StartOptions {
  return startOptions({
    workflowId: findMissingWorkflowId(source),
    summary: `Looks for webhooks of ${source} that never came, asked for by hand`,
    ...{ orderId: null, source },
  });
}

export function authorizationMoveStartOptions(
  kind: 'capture' | 'void',
  payment: { readonly source: string; readonly paymentId: string; readonly orderId: string | null },
): StartOptions {
  const { source, paymentId } = payment;
  return startOptions({
    workflowId: authorizationMoveWorkflowId(kind, authorizationMoveId(source, paymentId)),
    summary: `${kind === 'capture' ? 'Capture' : 'Void'} of payment ${paymentId} of ${source}`,
    ...payment,
  });
}

/** A run that is gone when a decision comes is started again for it. */
export function decidedStartOptions(workflowId: string): StartOptions {
  return startOptions({ workflowId, summary: `${workflowId}, after a decision`, orderId: null });
}
