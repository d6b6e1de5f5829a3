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

/** Writes what is known of a payment now, and the transition if its status changed. */
export async function savePayment(tx: PoolClient, p: PaymentToSave): Promise<void> {
  await tx.query(
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
       updated_at = now()`,
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
    ],
  );
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
