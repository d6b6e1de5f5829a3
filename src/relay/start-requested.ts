import type { WorkflowClient } from '@temporalio/client';
import {
  captureMessages,
  chargeMessages,
  type MoneyMessages,
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
  decidedStartOptions,
  expiryStartOptions,
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

/** What each `….requested` row starts; a reservation carries its own start (E4). */
const STARTS: Readonly<Record<string, (work: RequestedWork) => { workflow: WorkflowName; options: StartOptions }>> = {
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
  if (work.eventType === 'dead_letter.decided') return tellDecision(client, work.payload['workflow_id']);
  const start = STARTS[work.eventType];
  if (start === undefined) return false;
  const { workflow, options } = start(work);
  await client.start(workflow, options);
  return true;
}

function text(payload: RequestedWork['payload'], field: string): string {
  const value = payload[field];
  if (typeof value !== 'string') throw new Error(`The outbox row has no ${field}: it cannot be started.`);
  return value;
}

function orderIdOf(payload: RequestedWork['payload']): string | null {
  return typeof payload['order_id'] === 'string' ? payload['order_id'] : null;
}

function paymentOf(payload: RequestedWork['payload']) {
  return { source: text(payload, 'source'), paymentId: text(payload, 'payment_id'), orderId: orderIdOf(payload) };
}

/** The workflow that waits for the decision is told; where its run is gone, a fresh one reads the decision from the row. */
async function tellDecision(client: WorkflowClient, workflowId: unknown): Promise<boolean> {
  const [kind] = typeof workflowId === 'string' ? workflowId.split(':') : [];
  const told = TOLD[kind ?? ''];
  if (told === undefined || typeof workflowId !== 'string') return false;
  await client.signalWithStart(told.workflow, {
    ...decidedStartOptions(workflowId),
    signal: told.messages.changed,
  });
  return true;
}

const TOLD: Readonly<Record<string, { readonly workflow: WorkflowName; readonly messages: MoneyMessages }>> = {
  refund: { workflow: 'refundPayment', messages: refundMessages },
  payout: { workflow: 'payOutSeller', messages: payoutMessages },
  charge: { workflow: 'chargeSavedCard', messages: chargeMessages },
  top_up: { workflow: 'topUpWallet', messages: topUpMessages },
  capture: { workflow: 'capturePayment', messages: captureMessages },
  void: { workflow: 'voidPayment', messages: voidMessages },
};
