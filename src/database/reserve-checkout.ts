import type { PoolClient } from 'pg';
import { checkoutWorkflowId } from '../domain/keys.ts';
import { PAYABLE_ORDER_STATUSES } from '../domain/order-states.ts';
import { announce } from './announce.ts';
import { lockOrder } from './lock-order.ts';

export interface CheckoutReservation {
  readonly orderId: string;
  /** The n-th checkout of the order. */
  readonly n: number;
  /** What is still due, in minor units. */
  readonly amount: bigint;
  readonly currency: string;
}

/**
 * Reserves the next checkout of an order, with the outbox row that starts its workflow. The caller commits it together with
 * the claim of its Idempotency-Key (E4).
 */
export async function reserveCheckout(
  tx: PoolClient,
  request: { readonly orderId: string; readonly source: string; readonly returnUrl: string | null },
): Promise<CheckoutReservation | 'not_found' | 'not_payable'> {
  const order = await lockOrder(tx, request.orderId);
  if (order === null) return 'not_found';
  if (!PAYABLE_ORDER_STATUSES.includes(order.status)) return 'not_payable';
  const { rows } = await tx.query<{ n: number }>(
    'update orders set checkout_count = checkout_count + 1, updated_at = now() where id = $1 returning checkout_count as n',
    [order.id],
  );
  const n = rows[0]?.n ?? 1;
  const amount = order.amountDue - order.amountPaid;
  await tx.query(
    `insert into checkouts (order_id, n, source, status, amount, currency, return_url)
     values ($1, $2, $3, 'pending', $4, $5, $6)`,
    [order.id, n, request.source, amount, order.currency, request.returnUrl],
  );
  await announce(tx, order.id, [
    {
      eventType: 'checkout.requested',
      aggregateId: checkoutWorkflowId(order.id, n),
      payload: { order_id: order.id, n, source: request.source, amount: amount.toString(), currency: order.currency },
    },
  ]);
  return { orderId: order.id, n, amount, currency: order.currency };
}
