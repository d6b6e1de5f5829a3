import type { PoolClient } from 'pg';
import type { PaymentOutcome } from '../domain/payment-outcome.ts';
import type { PaymentStatus } from '../domain/payment-states.ts';
import type { LockedPayment } from './lock-payment.ts';
import { recordTransition } from './record-transition.ts';

export interface PaymentToSave {
  readonly source: string;
  readonly paymentId: string;
  /** As locked; null where it is new. */
  readonly known: LockedPayment | null;
  readonly orderId: string | null;
  readonly status: PaymentStatus;
  readonly amount: bigint | null;
  readonly currency: string | null;
  readonly reference: string | null;
  readonly outcome: PaymentOutcome;
  /** The outcome was decided before and stands. */
  readonly keepOutcome: boolean;
  readonly waitingFor: 'order' | null;
  /** What the money is for; an order unless said otherwise. */
  readonly purpose?: 'order' | 'top_up';
  readonly cause: string;
}

/**
 * Writes what is known of a payment now, and the transition if its status changed.
 *
 * A row that is not there cannot be locked: of two transactions that found none, such as that of a webhook and that of the answer
 * to our own charge, the later one would write over what the first has decided. It changes nothing and fails.
 *
 * @throws Error where the payment became known since it was locked; the step is repeated, and then finds it
 */
export async function savePayment(tx: PoolClient, p: PaymentToSave): Promise<void> {
  const saved = await tx.query(
    `insert into payments (source, payment_id, order_id, status, amount, currency, reference, outcome, waiting_for, purpose)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $11)
     on conflict (source, payment_id) do update set
       order_id = coalesce(excluded.order_id, payments.order_id),
       status = excluded.status,
       amount = coalesce(excluded.amount, payments.amount),
       currency = coalesce(excluded.currency, payments.currency),
       reference = coalesce(payments.reference, excluded.reference),
       outcome = case when $10::boolean then payments.outcome else excluded.outcome end,
       waiting_for = excluded.waiting_for,
       updated_at = now()
     where $12::boolean`,
    [
      p.source,
      p.paymentId,
      p.orderId,
      p.status,
      p.amount,
      p.currency,
      p.reference,
      p.outcome,
      p.waitingFor,
      p.keepOutcome,
      p.purpose ?? 'order',
      p.known !== null,
    ],
  );
  if (saved.rowCount === 0) {
    throw new Error(`Payment ${p.source}:${p.paymentId} became known meanwhile; it is looked at again.`);
  }
  if (p.known?.status === p.status) return;
  await recordTransition(tx, {
    machine: 'payment',
    objectId: `${p.source}:${p.paymentId}`,
    from: p.known?.status ?? null,
    to: p.status,
    cause: p.cause,
    orderId: p.orderId,
    source: p.source,
    paymentId: p.paymentId,
  });
}
