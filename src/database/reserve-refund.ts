import { refundWorkflowId } from '../domain/keys.ts';
import { HOLDING_REFUNDS } from './holding-refunds.ts';
import { lockOrder } from './lock-order.ts';
import { lockPayment } from './lock-payment.ts';
import type { Tx } from './pool.ts';
import { requestMove } from './request-move.ts';

export interface RefundRequest {
  /** Derived from the client's Idempotency-Key: asked twice, reserved once. */
  readonly id: string;
  readonly source: string;
  readonly paymentId: string;
  /** Minor units; null: all that is still refundable. */
  readonly amount: bigint | null;
  readonly reason: string | null;
  readonly requestedBy: string;
}

export type RefundReservation =
  | { readonly result: 'reserved'; readonly id: string }
  | { readonly result: 'payment_not_found' }
  | { readonly result: 'payment_not_refundable' }
  | { readonly result: 'refund_exceeds_captured'; readonly refundable: bigint; readonly currency: string };

/**
 * Reserves a refund under the payment's lock: what all refunds of it that hold money add up to never exceeds what was
 * captured, whoever asks at the same time (E6). The outbox row that starts its workflow commits with it (E4).
 */
export async function reserveRefund(tx: Tx, request: RefundRequest): Promise<RefundReservation> {
  const { id, source, paymentId } = request;
  const known = await tx.query<{ order_id: string | null }>(
    'select order_id from payments where source = $1 and payment_id = $2',
    [source, paymentId],
  );
  const found = known.rows[0];
  if (found === undefined) return { result: 'payment_not_found' };
  if (found.order_id !== null) await lockOrder(tx, found.order_id);
  const payment = await lockPayment(tx, source, paymentId);
  if (payment?.status !== 'captured' || payment.amount === null || payment.currency === null) {
    return { result: 'payment_not_refundable' };
  }
  const { amount: captured, currency, orderId } = payment;
  const reserved = await tx.query<{ amount: bigint }>(
    `with held as (
       select coalesce(sum(amount), 0)::bigint as amount from refunds
       where source = $2 and payment_id = $3 and status in ${HOLDING_REFUNDS})
     insert into refunds (id, source, payment_id, order_id, kind, status, amount, currency, reason, reference, requested_by)
     select $1, $2, $3, $4, 'requested', 'pending', coalesce($5::bigint, $6::bigint - held.amount), $7, $8, $9, $10
     from held
     where coalesce($5::bigint, $6::bigint - held.amount) between 1 and $6::bigint - held.amount
     returning amount`,
    [
      ...[id, source, paymentId, orderId, request.amount, captured, currency],
      ...[request.reason, refundWorkflowId(id), request.requestedBy],
    ],
  );
  const amount = reserved.rows[0]?.amount;
  if (amount === undefined) {
    const left = await tx.query<{ refundable: bigint }>(
      `select $3::bigint - coalesce(sum(amount), 0)::bigint as refundable from refunds
       where source = $1 and payment_id = $2 and status in ${HOLDING_REFUNDS}`,
      [source, paymentId, captured],
    );
    const refundable = left.rows[0]?.refundable ?? 0n;
    return { result: 'refund_exceeds_captured', refundable: refundable < 0n ? 0n : refundable, currency };
  }
  await requestMove(
    tx,
    { kind: 'refund', id, source, orderId, paymentId, requestedBy: request.requestedBy },
    { order_id: orderId, source, payment_id: paymentId, refund_id: id, amount: amount.toString(), currency },
  );
  return { result: 'reserved', id };
}
