import { WithStartWorkflowOperation } from '@temporalio/client';
import type { PaymentOutcome } from '../domain/payment-outcome.ts';
import { paymentStartOptions } from '../relay/start-options.ts';
import { confirmPaymentUpdate } from '../workflows/messages.ts';
import type { ApiDeps } from './deps.ts';
import { within } from './within.ts';

/** A customer waits before the browser; after that the webhook says it. */
const LONGEST_WAIT_MS = 5_000;

/**
 * Asks the payment's workflow, started if it does not run, what became of the payment for this caller (B4). Where nothing comes
 * in time, or Temporal is away or busy, there is nothing to say yet: the update may still complete, and does no harm.
 */
export async function confirmPayment(
  { temporal, log }: Pick<ApiDeps, 'temporal' | 'log'>,
  source: string,
  paymentId: string,
): Promise<PaymentOutcome> {
  const deadline = Date.now() + LONGEST_WAIT_MS;
  try {
    const { outcome } = await within(deadline, () =>
      temporal.withDeadline(deadline, () =>
        temporal.workflow.executeUpdateWithStart(confirmPaymentUpdate, {
          args: [],
          // An operation object serves one call.
          startWorkflowOperation: new WithStartWorkflowOperation('processPayment', {
            ...paymentStartOptions(source, paymentId, null),
            workflowIdConflictPolicy: 'USE_EXISTING',
          }),
        }),
      ),
    );
    return outcome;
  } catch (error) {
    log.warn({ err: error, source, payment_id: paymentId }, 'confirm: no outcome in time');
    return 'pending';
  }
}
