import type { Pool } from 'pg';
import type { Policies } from '../domain/policies.ts';
import { endUnpaidOrder } from './end-unpaid-order.ts';
import { lockOrder } from './lock-order.ts';
import { inTransaction } from './pool.ts';

export type CancelResult = 'cancelled' | 'already_cancelled' | 'not_cancellable' | 'not_found';

/** Cancels an order that is not paid (B6). Safe to repeat. */
export async function cancelOrder(
  pool: Pool,
  request: { readonly orderId: string; readonly policies: Policies; readonly cause: string },
): Promise<CancelResult> {
  return inTransaction(pool, async (tx) => {
    const order = await lockOrder(tx, request.orderId);
    if (order === null) return 'not_found';
    if (order.status === 'cancelled') return 'already_cancelled';
    const { lateCapture } = request.policies;
    return (await endUnpaidOrder(tx, order, { to: 'cancelled', cause: request.cause, lateCapture }))
      ? 'cancelled'
      : 'not_cancellable';
  });
}
