import type { WorkflowClient } from '@temporalio/client';
import type { SignalDefinition } from '@temporalio/common';
import {
  chargeMessages,
  deliveryChangedSignal,
  payoutMessages,
  refundMessages,
  topUpMessages,
  type WorkflowName,
} from '../workflows/messages.ts';
import {
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
    options: refundStartOptions({
      refundId: aggregateId,
      source: text(payload, 'source'),
      paymentId: text(payload, 'payment_id'),
      orderId: typeof payload['order_id'] === 'string' ? payload['order_id'] : null,
    }),
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

function text(payload: RequestedWork['payload'], field: string): string {
  const value = payload[field];
  if (typeof value !== 'string') throw new Error(`The outbox row has no ${field}: it cannot be started.`);
  return value;
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
};
