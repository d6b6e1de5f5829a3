import { type WorkflowClient, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { type SignalDefinition, WorkflowIdConflictPolicy } from '@temporalio/common';
import {
  captureMessages,
  chargeMessages,
  deliveryChangedSignal,
  payoutMessages,
  refundMessages,
  topUpMessages,
  voidMessages,
  type WorkflowName,
} from '../workflows/messages.ts';
import {
  authorizationMoveStartOptions,
  chargeStartOptions,
  checkoutStartOptions,
  deliveryStartOptions,
  decidedStartOptions,
  expiryStartOptions,
  paymentStartOptions,
  payoutStartOptions,
  refundStartOptions,
  topUpStartOptions,
  type StartOptions,
} from './start-options.ts';

/** A row of the outbox, as far as starting what it asks for goes. */
export interface RequestedWork {
  readonly eventType: string;
  readonly aggregateId: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** What each `….requested` row starts; a reservation carries its own start (E4). A payment that waits has no such row. */
const STARTS: Readonly<Record<string, (work: RequestedWork) => { workflow: WorkflowName; options: StartOptions }>> = {
  'payment.waits': ({ aggregateId, payload }) => ({
    workflow: 'processPayment',
    options: paymentStartOptions(text(payload, 'source'), aggregateId, optional(payload, 'order_id')),
  }),
  'refund.requested': ({ aggregateId, payload }) => ({
    workflow: 'refundPayment',
    options: refundStartOptions({ refundId: aggregateId, ...paymentOf(payload) }),
  }),
  'payout.requested': ({ aggregateId, payload }) => ({
    workflow: 'payOutSeller',
    options: payoutStartOptions(aggregateId, text(payload, 'source')),
  }),
  'charge.requested': ({ aggregateId, payload }) => ({
    workflow: 'chargeSavedCard',
    options: chargeStartOptions(aggregateId, text(payload, 'source'), text(payload, 'order_id')),
  }),
  'top_up.requested': ({ aggregateId, payload }) => ({
    workflow: 'topUpWallet',
    options: topUpStartOptions(aggregateId, text(payload, 'source')),
  }),
  'capture.requested': ({ payload }) => ({
    workflow: 'capturePayment',
    options: authorizationMoveStartOptions('capture', paymentOf(payload)),
  }),
  'void.requested': ({ payload }) => ({
    workflow: 'voidPayment',
    options: authorizationMoveStartOptions('void', paymentOf(payload)),
  }),
  'delivery.unfinished': ({ aggregateId, payload }) => ({
    workflow: 'deliverEvent',
    options: deliveryStartOptions(aggregateId, text(payload, 'event_type'), payload),
  }),
  'checkout.requested': ({ payload }) => ({
    workflow: 'startCheckout',
    options: checkoutStartOptions(text(payload, 'order_id'), Number(payload['n']), text(payload, 'source')),
  }),
  'order.expiry_requested': ({ aggregateId }) => ({
    workflow: 'expireOrder',
    options: expiryStartOptions(aggregateId),
  }),
};

/**
 * Starts the workflow that a row asks for; one that runs already is left alone.
 *
 * @returns false for a row that asks for none: an announcement
 */
export async function startRequested(client: WorkflowClient, work: RequestedWork): Promise<boolean> {
  if (work.eventType === 'dead_letter.decided' || work.eventType === 'delivery.requested')
    return tellDecision(client, work.payload['workflow_id']);
  const start = STARTS[work.eventType];
  if (start === undefined) return false;
  const { workflow, options } = start(work);
  await client.start(workflow, options);
  return true;
}

/**
 * Starts it only where no run of it is open: what was terminated, or whose history is gone, goes on from what PostgreSQL knows.
 *
 * @returns the id of the run that was gone; null where one is open
 */
export async function restartUnfinished(client: WorkflowClient, work: RequestedWork): Promise<string | null> {
  const start = STARTS[work.eventType];
  if (start === undefined) throw new Error(`Nothing says how ${work.eventType} is started.`);
  const { workflow, options } = start(work);
  try {
    await client.start(workflow, { ...options, workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL });
    return options.workflowId;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return null;
    throw error;
  }
}

function optional(payload: RequestedWork['payload'], field: string): string | null {
  const value = payload[field];
  return typeof value === 'string' ? value : null;
}

function text(payload: RequestedWork['payload'], field: string): string {
  const value = payload[field];
  if (typeof value !== 'string') throw new Error(`The outbox row has no ${field}: it cannot be started.`);
  return value;
}

function paymentOf(payload: RequestedWork['payload']) {
  return {
    source: text(payload, 'source'),
    paymentId: text(payload, 'payment_id'),
    orderId: optional(payload, 'order_id'),
  };
}

/** The workflow that waits for the decision is told; where its run is gone, a fresh one reads the decision from the row. */
async function tellDecision(client: WorkflowClient, workflowId: unknown): Promise<boolean> {
  const [kind] = typeof workflowId === 'string' ? workflowId.split(':') : [];
  const told = TOLD[kind ?? ''];
  if (told === undefined || typeof workflowId !== 'string') return false;
  await client.signalWithStart(told.workflow, {
    ...decidedStartOptions(workflowId),
    signal: told.changed,
  });
  return true;
}

const TOLD: Readonly<Record<string, { readonly workflow: WorkflowName; readonly changed: SignalDefinition<[]> }>> = {
  refund: { workflow: 'refundPayment', changed: refundMessages.changed },
  payout: { workflow: 'payOutSeller', changed: payoutMessages.changed },
  charge: { workflow: 'chargeSavedCard', changed: chargeMessages.changed },
  top_up: { workflow: 'topUpWallet', changed: topUpMessages.changed },
  outbox: { workflow: 'deliverEvent', changed: deliveryChangedSignal },
  capture: { workflow: 'capturePayment', changed: captureMessages.changed },
  void: { workflow: 'voidPayment', changed: voidMessages.changed },
};
