import type { WorkflowClient as TemporalWorkflowClient } from '@temporalio/client';
import { checkoutWorkflowId, paymentWorkflowId, refundWorkflowId } from '../domain/keys.ts';
import {
  checkoutStateQuery,
  paymentEventSignal,
  paymentStateQuery,
  refundMessages,
  type CheckoutState,
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
  checkoutState(orderId: string, n: number): Promise<CheckoutState>;
}

/** What a wake-up without an event says instead of an event's id. */
const NO_EVENT = '';

export function createWorkflowClient(temporal: TemporalWorkflowClient): WorkflowClient {
  const payment = (source: string, paymentId: string) => temporal.getHandle(paymentWorkflowId(source, paymentId));
  const refund = (refundId: string) => temporal.getHandle(refundWorkflowId(refundId));
  return {
    paymentState: (source, paymentId) => payment(source, paymentId).query(paymentStateQuery),
    wakePayment: (source, paymentId) => payment(source, paymentId).signal(paymentEventSignal, NO_EVENT),
    refundState: (refundId) => refund(refundId).query(refundMessages.state),
    wakeRefund: (refundId) => refund(refundId).signal(refundMessages.changed),
    checkoutState: (orderId, n) => temporal.getHandle(checkoutWorkflowId(orderId, n)).query(checkoutStateQuery),
  };
}
