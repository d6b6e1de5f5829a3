import { randomUUID } from 'node:crypto';
import { isGrpcServiceError, WithStartWorkflowOperation, type WorkflowClient } from '@temporalio/client';
import type { PaymentOutcome } from '../domain/payment-outcome.ts';
import { confirmPaymentUpdate } from '../workflows/messages.ts';
import { paymentStartOptions } from './start-options.ts';

/** gRPC's FAILED_PRECONDITION and ABORTED: the run was completing just then, and the update did not get in. */
const RUN_WAS_COMPLETING: ReadonlySet<number> = new Set([9, 10]);
/** Each is followed by a fresh run, so that a second miss is rare and a fifth is another trouble. */
const MISSES_AT_MOST = 5;

/**
 * Asks the payment's workflow, started if it does not run, to look at the gateway now and say what became of the payment for
 * this caller (B4). An update that met a run on its way out is asked again under its own id: it counts once.
 *
 * @throws what Temporal throws
 */
export async function confirmPayment(
  client: WorkflowClient,
  payment: { readonly source: string; readonly paymentId: string; readonly orderId: string | null },
): Promise<PaymentOutcome> {
  const updateId = randomUUID();
  for (let misses = 0; ; misses += 1) {
    try {
      const { outcome } = await client.executeUpdateWithStart(confirmPaymentUpdate, {
        args: [],
        updateId,
        // An operation object serves one call.
        startWorkflowOperation: new WithStartWorkflowOperation(
          'processPayment',
          paymentStartOptions(payment.source, payment.paymentId, payment.orderId),
        ),
      });
      return outcome;
    } catch (error) {
      const completing = isGrpcServiceError(error) && RUN_WAS_COMPLETING.has(error.code);
      if (!completing || misses >= MISSES_AT_MOST) throw error;
    }
  }
}
