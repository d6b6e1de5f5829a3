import { isGrpcServiceError, WithStartWorkflowOperation, type WorkflowClient } from '@temporalio/client';
import type { PaymentOutcome } from '../domain/payment-outcome.ts';
import { confirmPaymentUpdate } from '../workflows/messages.ts';
import { paymentStartOptions } from './start-options.ts';

/** gRPC's FAILED_PRECONDITION and ABORTED: the run was completing just then, and the update did not get in. */
const RUN_WAS_COMPLETING: ReadonlySet<number> = new Set([9, 10]);

export interface ConfirmCall {
  readonly source: string;
  readonly paymentId: string;
  readonly orderId: string | null;
  /** Who asks: the same again is one question, answered once. */
  readonly caller: string;
}

/**
 * Asks the payment's workflow, started if it does not run, to look at the gateway now and say what became of the payment for
 * this caller (B4). An update that met a run on its way out was not taken, and is asked once more under its own id: the run that
 * it then starts takes it.
 *
 * @throws what Temporal throws
 */
export async function confirmPayment(client: WorkflowClient, call: ConfirmCall): Promise<PaymentOutcome> {
  return ask(client, call).catch((error: unknown) => {
    if (isGrpcServiceError(error) && RUN_WAS_COMPLETING.has(error.code)) return ask(client, call);
    throw error;
  });
}

async function ask(
  client: WorkflowClient,
  { source, paymentId, orderId, caller }: ConfirmCall,
): Promise<PaymentOutcome> {
  const { outcome } = await client.executeUpdateWithStart(confirmPaymentUpdate, {
    args: [],
    updateId: caller,
    // An operation object serves one call.
    startWorkflowOperation: new WithStartWorkflowOperation(
      'processPayment',
      paymentStartOptions(source, paymentId, orderId),
    ),
  });
  return outcome;
}
