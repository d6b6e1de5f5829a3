import type { PoolClient } from 'pg';
import { unpaidOrderStatus } from '../domain/order-states.ts';
import type { PaymentStatus } from '../domain/payment-states.ts';
import type { LockedOrder } from './lock-order.ts';
import { recordTransition } from './record-transition.ts';

/** An order that nothing counts for yet follows its payments: under way, or all failed (B6). */
export async function updateUnpaidOrder(
  tx: PoolClient,
  { order, source, paymentId, cause }: { order: LockedOrder; source: string; paymentId: string; cause: string },
): Promise<void> {
  if (order.status !== 'pending_payment' && order.status !== 'payment_pending' && order.status !== 'failed_final')
    return;
  const { rows } = await tx.query<{ status: PaymentStatus }>('select status from payments where order_id = $1', [
    order.id,
  ]);
  const status = unpaidOrderStatus(rows.map((row) => row.status));
  if (status === order.status) return;
  await tx.query('update orders set status = $2, updated_at = now() where id = $1 and status = $3', [
    order.id,
    status,
    order.status,
  ]);
  await recordTransition(tx, {
    machine: 'order',
    objectId: order.id,
    from: order.status,
    to: status,
    cause,
    orderId: order.id,
    source,
    paymentId,
  });
}
