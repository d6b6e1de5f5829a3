import type { PoolClient } from 'pg';
import { paymentWorkflowId } from '../domain/keys.ts';
import type { PaymentOutcome } from '../domain/payment-outcome.ts';
import type { PaymentStatus } from '../domain/payment-states.ts';

/** A payment whose row this transaction holds. */
export interface LockedPayment {
  readonly status: PaymentStatus;
  readonly outcome: PaymentOutcome | null;
  readonly waitingFor: 'order' | 'gateway' | null;
  readonly orderId: string | null;
  readonly reference: string | null;
  readonly amount: bigint | null;
  readonly currency: string | null;
  readonly amountRefunded: bigint;
  readonly createdAt: Date;
  /** Its row in `order_payments`, if it counts. */
  readonly counted: { readonly by: string; readonly outcome: 'marked_paid' | 'partially_paid' } | null;
  readonly automaticRefund: 'extra_capture' | 'late_capture' | null;
  /** A wallet was credited for it. */
  readonly credited: boolean;
  /** A dispute of it is known. */
  readonly disputed: boolean;
}

/** Takes the payment's row; the order's is taken before it. Null where the payment is not known yet. */
export async function lockPayment(tx: PoolClient, source: string, paymentId: string): Promise<LockedPayment | null> {
  const { rows } = await tx.query<{
    status: PaymentStatus;
    outcome: PaymentOutcome | null;
    waiting_for: 'order' | 'gateway' | null;
    order_id: string | null;
    reference: string | null;
    amount: bigint | null;
    currency: string | null;
    amount_refunded: bigint;
    created_at: Date;
    counted: LockedPayment['counted'];
    automatic_refund: LockedPayment['automaticRefund'];
    credited: boolean;
    disputed: boolean;
  }>(
    `select p.status, p.outcome, p.waiting_for, p.order_id, p.reference, p.amount, p.currency, p.amount_refunded, p.created_at,
            (select json_build_object('by', c.counted_by, 'outcome', c.outcome) from order_payments c
             where c.source = p.source and c.payment_id = p.payment_id) as counted,
            (select r.kind from refunds r where r.source = p.source and r.payment_id = p.payment_id
             and r.kind in ('extra_capture', 'late_capture')) as automatic_refund,
            p.purpose = 'top_up' and exists (select from wallet_entries e where e.source = p.source
             and e.payment_id = p.payment_id and e.refund_id is null) as credited,
            exists (select from disputes d where d.source = p.source and d.payment_id = p.payment_id) as disputed
     from payments p where p.source = $1 and p.payment_id = $2 for update of p`,
    [source, paymentId],
  );
  const row = rows[0];
  if (row === undefined) return null;
  return {
    status: row.status,
    outcome: row.outcome,
    waitingFor: row.waiting_for,
    orderId: row.order_id,
    reference: row.reference,
    amount: row.amount,
    currency: row.currency,
    amountRefunded: row.amount_refunded,
    createdAt: row.created_at,
    counted: row.counted,
    automaticRefund: row.automatic_refund,
    credited: row.credited,
    disputed: row.disputed,
  };
}

/**
 * The same where no order's lock keeps others away: makes sure that the payment does not come into being beside this transaction. Of
 * two attempts of one step the later one sees what the earlier one wrote.
 */
export async function lockPaymentOrItsAbsence(
  tx: PoolClient,
  source: string,
  paymentId: string,
): Promise<LockedPayment | null> {
  const payment = await lockPayment(tx, source, paymentId);
  if (payment !== null) return payment;
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [paymentWorkflowId(source, paymentId)]);
  return lockPayment(tx, source, paymentId);
}
