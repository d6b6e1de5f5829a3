import { randomUUID } from 'node:crypto';
import type { PaymentOutcome } from '../domain/payment-outcome.ts';
import { confirmPayment as confirm } from '../relay/confirm-payment.ts';
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
    return await within(deadline, () =>
      temporal.withDeadline(deadline, () =>
        confirm(temporal.workflow, { source, paymentId, orderId: null, caller: randomUUID() }),
      ),
    );
  } catch (error) {
    log.warn({ err: error, source, payment_id: paymentId }, 'confirm: no outcome in time');
    return 'pending';
  }
}
