import type { PoolClient } from 'pg';
import { formatMoney } from '../domain/money.ts';
import { deadLetterId } from '../domain/keys.ts';
import type { RefundedPayment } from './apply-refunds.ts';
import { HOLDING_REFUNDS } from './holding-refunds.ts';
import { openDeadLetter } from './open-dead-letter.ts';
import { recordTransition } from './record-transition.ts';

interface Unsent {
  id: string;
  kind: string;
  amount: bigint;
}

/**
 * After somebody refunded at the gateway: reservations of ours that are surely not at the gateway must not carry the sum beyond what
 * was captured (E6). An automatic one shrinks to what is left, or ends as `already_refunded`; a requested one, and any sum
 * that is too large already, goes before a human.
 *
 * @returns the ids of the refunds whose status changed
 */
export async function reconcileReservations(tx: PoolClient, payment: RefundedPayment): Promise<string[]> {
  const { rows } = await tx.query<{
    held: bigint;
    order_id: string | null;
    unsent: { id: string; kind: string; amount: string }[];
  }>(
    `with holding as (
       select r.id, r.order_id, r.kind, r.amount, r.kind <> 'gateway' and r.status = 'pending' and r.gateway_refund_id is null
              and c.unanswered_since is null as unsent
       from refunds r left join gateway_calls c on c.reference = r.reference
       where r.source = $1 and r.payment_id = $2 and r.status in ${HOLDING_REFUNDS})
     select coalesce(sum(amount) filter (where not unsent), 0)::bigint as held, min(order_id) as order_id,
            coalesce(json_agg(json_build_object('id', id, 'kind', kind, 'amount', amount::text) order by id)
                     filter (where unsent), '[]') as unsent
     from holding`,
    [payment.source, payment.paymentId],
  );
  let left = payment.captured - (rows[0]?.held ?? 0n);
  const overdrawn = left < 0n;
  const changed: string[] = [];
  const unsent: Unsent[] = (rows[0]?.unsent ?? []).map((r) => ({ ...r, amount: BigInt(r.amount) }));
  let tooMuch = overdrawn;
  for (const reservation of unsent) {
    if (reservation.amount <= left) {
      left -= reservation.amount;
    } else if (reservation.kind === 'requested') {
      await become(tx, payment, reservation.id, 'needs_review', null);
      changed.push(reservation.id);
      tooMuch = true;
    } else if (left > 0n) {
      await tx.query('update refunds set amount = $2, updated_at = now() where id = $1', [reservation.id, left]);
      left = 0n;
    } else {
      await become(tx, payment, reservation.id, 'failed', 'already_refunded');
      changed.push(reservation.id);
    }
  }
  if (tooMuch) {
    await openDeadLetter(tx, {
      id: deadLetterId('refunds_exceed_captured', payment.source, payment.paymentId),
      kind: 'refunds_exceed_captured',
      source: payment.source,
      paymentId: payment.paymentId,
      orderId: rows[0]?.order_id ?? null,
      amount: payment.captured,
      currency: payment.currency,
      lastError: `The refunds of this payment together exceed the ${formatMoney({ amount: payment.captured, currency: payment.currency })} that were captured.`,
    });
  }
  return changed;
}

async function become(
  tx: PoolClient,
  payment: RefundedPayment,
  refundId: string,
  status: 'needs_review' | 'failed',
  failureCode: string | null,
): Promise<void> {
  await tx.query('update refunds set status = $2, failure_code = $3, updated_at = now() where id = $1', [
    refundId,
    status,
    failureCode,
  ]);
  await recordTransition(tx, {
    machine: 'refund',
    objectId: refundId,
    from: 'pending',
    to: status,
    cause: payment.cause,
    detail: 'refunded at the gateway meanwhile',
    source: payment.source,
    paymentId: payment.paymentId,
  });
}
