import type { WorkflowClient as TemporalWorkflowClient } from '@temporalio/client';
import {
  authorizationMoveId,
  authorizationMoveWorkflowId,
  chargeWorkflowId,
  checkoutWorkflowId,
  outboxEventId,
  paymentWorkflowId,
  payoutWorkflowId,
  refundWorkflowId,
  topUpWorkflowId,
} from '../domain/keys.ts';
import {
  captureMessages,
  chargeMessages,
  checkoutStateQuery,
  decideUpdate,
  deliveryStateQuery,
  paymentEventSignal,
  paymentStateQuery,
  payoutMessages,
  refundMessages,
  topUpMessages,
  voidMessages,
  type CheckoutState,
  type DecideInput,
  type DecideResult,
  type DeliveryStateAnswer,
  type MoneyMessages,
  type MoneyState,
  type PaymentState,
} from '../workflows/messages.ts';

/**
 * The workflows for services that reach Temporal themselves. Ids come from business keys, so that nobody has to remember one;
 * a workflow that nobody started, or whose history has ended, answers with Temporal's `WorkflowNotFoundError`: then ask the
 * HTTP API, which knows everything for good.
 */
export interface WorkflowClient {
  paymentState(source: string, paymentId: string): Promise<PaymentState>;
  /** Look at the payment now; harmless however often. Only an open run hears it. */
  wakePayment(source: string, paymentId: string): Promise<void>;
  refundState(refundId: string): Promise<MoneyState>;
  wakeRefund(refundId: string): Promise<void>;
  payoutState(payoutId: string): Promise<MoneyState>;
  wakePayout(payoutId: string): Promise<void>;
  chargeState(chargeId: string): Promise<MoneyState>;
  wakeCharge(chargeId: string): Promise<void>;
  topUpState(topUpId: string): Promise<MoneyState>;
  wakeTopUp(topUpId: string): Promise<void>;
  captureState(source: string, paymentId: string): Promise<MoneyState>;
  wakeCapture(source: string, paymentId: string): Promise<void>;
  voidState(source: string, paymentId: string): Promise<MoneyState>;
  wakeVoid(source: string, paymentId: string): Promise<void>;
  checkoutState(orderId: string, n: number): Promise<CheckoutState>;
  /** How far one of our announced events has come. */
  deliveryState(outboxId: string): Promise<DeliveryStateAnswer>;
  /** A person's decision about what the run waits for, by the id of its workflow; recorded exactly as the HTTP API does. */
  decide(workflowId: string, decision: DecideInput): Promise<DecideResult>;
}

/** What a wake-up without an event says instead of an event's id. */
const NO_EVENT = '';

export function createWorkflowClient(temporal: TemporalWorkflowClient): WorkflowClient {
  const payment = (source: string, paymentId: string) => temporal.getHandle(paymentWorkflowId(source, paymentId));
  const state = (id: string, messages: MoneyMessages) => temporal.getHandle(id).query(messages.state);
  const wake = (id: string, messages: MoneyMessages) => temporal.getHandle(id).signal(messages.changed);
  const captureId = (...of: Parameters<typeof authorizationMoveId>) =>
    authorizationMoveWorkflowId('capture', authorizationMoveId(...of));
  const voidId = (...of: Parameters<typeof authorizationMoveId>) =>
    authorizationMoveWorkflowId('void', authorizationMoveId(...of));
  return {
    paymentState: (source, paymentId) => payment(source, paymentId).query(paymentStateQuery),
    wakePayment: (source, paymentId) => payment(source, paymentId).signal(paymentEventSignal, NO_EVENT),
    refundState: (id) => state(refundWorkflowId(id), refundMessages),
    wakeRefund: (id) => wake(refundWorkflowId(id), refundMessages),
    payoutState: (id) => state(payoutWorkflowId(id), payoutMessages),
    wakePayout: (id) => wake(payoutWorkflowId(id), payoutMessages),
    chargeState: (id) => state(chargeWorkflowId(id), chargeMessages),
    wakeCharge: (id) => wake(chargeWorkflowId(id), chargeMessages),
    topUpState: (id) => state(topUpWorkflowId(id), topUpMessages),
    wakeTopUp: (id) => wake(topUpWorkflowId(id), topUpMessages),
    captureState: (source, paymentId) => state(captureId(source, paymentId), captureMessages),
    wakeCapture: (source, paymentId) => wake(captureId(source, paymentId), captureMessages),
    voidState: (source, paymentId) => state(voidId(source, paymentId), voidMessages),
    wakeVoid: (source, paymentId) => wake(voidId(source, paymentId), voidMessages),
    checkoutState: (orderId, n) => temporal.getHandle(checkoutWorkflowId(orderId, n)).query(checkoutStateQuery),
    deliveryState: (outboxId) => temporal.getHandle(outboxEventId(outboxId)).query(deliveryStateQuery),
    decide: (workflowId, decision) => temporal.getHandle(workflowId).executeUpdate(decideUpdate, { args: [decision] }),
  };
}
