import { chargeWorkflowId } from '../domain/keys.ts';
import { PAYABLE_ORDER_STATUSES } from '../domain/order-states.ts';
import { lockOrder } from './lock-order.ts';
import type { Tx } from './pool.ts';
import { requestMove } from './request-move.ts';

export interface ChargeRequest {
  readonly id: string;
  readonly source: string;
  readonly orderId: string;
  readonly customerId: string;
  readonly paymentMethod: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly requestedBy: string;
}

export type ChargeReservation =
  | { readonly result: 'reserved'; readonly id: string }
  | { readonly result: 'not_found' | 'order_not_payable' }
  | { readonly result: 'currency_mismatch'; readonly currency: string }
  | { readonly result: 'amount_exceeds_due'; readonly due: bigint };

/** Reserves a charge of a saved card for an order that takes it, with the outbox row that starts its workflow (E4). */
export async function reserveCharge(tx: Tx, request: ChargeRequest): Promise<ChargeReservation> {
  const { id, source, orderId, amount, currency } = request;
  const order = await lockOrder(tx, orderId);
  if (order === null) return { result: 'not_found' };
  if (!PAYABLE_ORDER_STATUSES.includes(order.status)) return { result: 'order_not_payable' };
  if (order.currency !== currency) return { result: 'currency_mismatch', currency: order.currency };
  const due = order.amountDue - order.amountPaid;
  if (amount > due) return { result: 'amount_exceeds_due', due };
  await tx.query(
    `insert into charges (id, source, order_id, customer_id, payment_method, amount, currency, status, reference, requested_by)
     values ($1, $2, $3, $4, $5, $6, $7, 'pending', $8, $9)`,
    [
      ...[id, source, orderId, request.customerId, request.paymentMethod, amount, currency],
      ...[chargeWorkflowId(id), request.requestedBy],
    ],
  );
  await requestMove(
    tx,
    { kind: 'charge', id, source, orderId, paymentId: null, requestedBy: request.requestedBy },
    { order_id: orderId, source, charge_id: id, amount: amount.toString(), currency },
  );
  return { result: 'reserved', id };
}
