import type { PoolClient } from 'pg';
import { CANCELLABLE_ORDER_STATUSES } from '../domain/order-states.ts';
import { deadLetterId } from '../domain/keys.ts';
import type { Policies } from '../domain/policies.ts';
import type { LockedOrder } from './lock-order.ts';
import { openDeadLetter } from './open-dead-letter.ts';
import { recordTransition } from './record-transition.ts';
import { reserveAutomaticRefund } from './reserve-automatic-refund.ts';

/**
 * Cancels an order or lets it expire, and in the same transaction gives back what counts for it: one refund per counted
 * payment, or one dead letter, by policy (B6). The rows in `order_payments` stay, so that in the end as much is refunded
 * as was paid.
 *
 * @returns false where the order has left the states that allow it
 */
export async function endUnpaidOrder(
  tx: PoolClient,
  order: LockedOrder,
  end: { readonly to: 'cancelled' | 'expired'; readonly cause: string; readonly lateCapture: Policies['lateCapture'] },
): Promise<boolean> {
  const ended = await tx.query('update orders set status = $2, updated_at = now() where id = $1 and status = any($3)', [
    order.id,
    end.to,
    CANCELLABLE_ORDER_STATUSES,
  ]);
  if (ended.rowCount === 0) return false;
  await recordTransition(tx, {
    machine: 'order',
    objectId: order.id,
    from: order.status,
    to: end.to,
    cause: end.cause,
    orderId: order.id,
  });
  const { rows } = await tx.query<{ source: string; payment_id: string; amount: bigint }>(
    'select source, payment_id, amount from order_payments where order_id = $1 order by source, payment_id',
    [order.id],
  );
  for (const row of rows) {
    const money = { source: row.source, paymentId: row.payment_id, orderId: order.id, currency: order.currency };
    if (end.lateCapture === 'refund') {
      await reserveAutomaticRefund(tx, { ...money, kind: 'late_capture', captured: row.amount, cause: end.cause });
    } else {
      await openDeadLetter(tx, {
        ...money,
        id: deadLetterId('late_capture', row.source, row.payment_id),
        kind: 'late_capture',
        amount: row.amount,
        lastError: `The order was ${end.to} while part of it was paid.`,
      });
    }
  }
  return true;
}
