import type { PoolClient } from 'pg';
import { deadLetterId } from '../domain/keys.ts';
import { UNALLOCATED } from '../domain/ledger.ts';
import type { PaymentStep } from './apply-facts.ts';
import { openDeadLetter } from './open-dead-letter.ts';
import { postCapture } from './post-capture.ts';

/**
 * Puts a captured payment before a human that no order is known for, or whose amount is not known; the money enters the
 * books all the same.
 */
export async function holdPayment(
  tx: PoolClient,
  { input, orderId, sorted, known }: PaymentStep,
  reason: string,
  captured: { amount: bigint; currency: string } | null,
): Promise<void> {
  const kind = captured === null ? 'event_unreadable' : 'unmatched_payment';
  await openDeadLetter(tx, {
    id: deadLetterId(kind, input.source, input.paymentId),
    kind,
    source: input.source,
    eventId: sorted.settled[0]?.eventId ?? null,
    orderId,
    paymentId: input.paymentId,
    amount: captured?.amount ?? null,
    currency: captured?.currency ?? null,
    lastError: reason,
  });
  if (captured === null || known?.outcome === 'held_for_review') return;
  await postCapture(tx, { ...input, order: null, ...captured, alreadyPosted: false }, UNALLOCATED);
}
