import type { PoolClient } from 'pg';
import { automaticRefundId, refundWorkflowId, type AutomaticRefundKind } from '../domain/keys.ts';
import { announce } from './announce.ts';
import { HOLDING_REFUNDS } from './holding-refunds.ts';
import { recordTransition } from './record-transition.ts';

export interface AutomaticRefund {
  readonly kind: AutomaticRefundKind;
  readonly source: string;
  readonly paymentId: string;
  /** Null where a person gives back a payment that no order is known for. */
  readonly orderId: string | null;
  /** What was captured; the refund takes what is still refundable of it (E6). */
  readonly captured: bigint;
  readonly currency: string;
  readonly cause: string;
}

/**
 * Reserves the one refund that the machine gives for a payment, with the outbox row that starts its workflow even if
 * this process dies after the commit (D1, B6). Where other refunds already took everything, the row ends at once as
 * `already_refunded`.
 *
 * @returns the refund's id if its workflow is to be started
 */
export async function reserveAutomaticRefund(tx: PoolClient, r: AutomaticRefund): Promise<string | null> {
  const id = automaticRefundId(r.kind, r.source, r.paymentId);
  const { rows } = await tx.query<{ status: string; amount: bigint }>(
    `with held as (
       select coalesce(sum(amount), 0)::bigint as amount from refunds
       where source = $2 and payment_id = $3 and status in ${HOLDING_REFUNDS})
     insert into refunds (id, source, payment_id, order_id, kind, status, amount, currency, reference, failure_code, requested_by)
     select $1, $2, $3, $4, $5,
            case when held.amount < $6::bigint then 'pending' else 'failed' end,
            case when held.amount < $6::bigint then $6::bigint - held.amount else $6::bigint end,
            $7, $8,
            case when held.amount < $6::bigint then null else 'already_refunded' end,
            'paidonce'
     from held
     on conflict do nothing
     returning status, amount`,
    [id, r.source, r.paymentId, r.orderId, r.kind, r.captured, r.currency, refundWorkflowId(id)],
  );
  const reserved = rows[0];
  if (reserved === undefined) return null;
  await recordTransition(tx, {
    machine: 'refund',
    objectId: id,
    from: null,
    to: reserved.status,
    cause: r.cause,
    orderId: r.orderId,
    source: r.source,
    paymentId: r.paymentId,
  });
  if (reserved.status !== 'pending') return null;
  const payload = {
    order_id: r.orderId,
    source: r.source,
    payment_id: r.paymentId,
    refund_id: id,
    amount: reserved.amount.toString(),
    currency: r.currency,
  };
  await announce(tx, r.orderId, [
    { eventType: 'refund.requested', aggregateId: id, payload },
    ...(r.kind === 'extra_capture' ? [{ eventType: 'payment.extra_captured', payload }] : []),
  ]);
  return id;
}
