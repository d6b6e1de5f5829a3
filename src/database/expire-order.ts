import type { Pool } from 'pg';
import type { OrderStatus } from '../domain/order-states.ts';
import { orderWorkflowId } from '../domain/keys.ts';
import type { Policies } from '../domain/policies.ts';
import { endUnpaidOrder } from './end-unpaid-order.ts';
import { lockOrder } from './lock-order.ts';
import { inTransaction } from './pool.ts';

export interface Expiry {
  /** Null where there is no such order. */
  readonly status: OrderStatus | null;
  /** Until it is due, in milliseconds from `at`; null where nothing is left to wait for. */
  readonly dueInMs: number | null;
}

/** Lets an order expire if it is time and it still can (B6). Safe to repeat. */
export async function expireOrder(
  pool: Pool,
  request: { readonly orderId: string; readonly at: Date; readonly policies: Policies },
): Promise<Expiry> {
  return inTransaction(pool, async (tx) => {
    const order = await lockOrder(tx, request.orderId);
    if (order?.expiresAt == null) return { status: order?.status ?? null, dueInMs: null };
    const dueInMs = order.expiresAt.getTime() - request.at.getTime();
    const { lateCapture } = request.policies;
    const cause = orderWorkflowId(order.id);
    if (dueInMs <= 0) {
      const expired = await endUnpaidOrder(tx, order, { to: 'expired', cause, lateCapture });
      return { status: expired ? 'expired' : order.status, dueInMs: null };
    }
    return { status: order.status, dueInMs: order.status === 'paid' || order.status === 'cancelled' ? null : dueInMs };
  });
}
