import { refuseAuthorizationMove, type AuthorizationMoveKind } from '../domain/authorization-moves.ts';
import { authorizationMoveId, authorizationMoveWorkflowId } from '../domain/keys.ts';
import type { PaymentStatus } from '../domain/payment-states.ts';
import { lockOrder } from './lock-order.ts';
import { lockPayment } from './lock-payment.ts';
import { moneyTable, type MoneyStatus } from './money-move.ts';
import type { Tx } from './pool.ts';
import { requestMove } from './request-move.ts';

export interface AuthorizationMoveRequest {
  readonly kind: AuthorizationMoveKind;
  readonly source: string;
  readonly paymentId: string;
  /** Minor units to capture; null: all that is authorised. A void releases all of it. */
  readonly amount: bigint | null;
  readonly requestedBy: string;
}

export type AuthorizationMoveReservation =
  | { readonly result: 'reserved' | 'exists'; readonly id: string }
  | { readonly result: 'payment_not_found' | 'opposite_exists' | 'order_not_payable' | 'changed_meanwhile' }
  | { readonly result: 'not_authorized'; readonly status: PaymentStatus }
  | { readonly result: 'exceeds_authorized'; readonly authorized: bigint; readonly currency: string }
  | { readonly result: 'other_currency'; readonly currency: string; readonly ofOrder: string };

/**
 * Reserves the one capture, or the one void, of an authorised payment under the payment's lock, so that of both the first
 * stands, whoever asks at the same time. The outbox row that starts its workflow commits with it (E4).
 */
export async function reserveAuthorizationMove(
  tx: Tx,
  request: AuthorizationMoveRequest,
): Promise<AuthorizationMoveReservation> {
  const { kind, source, paymentId, requestedBy } = request;
  const { rows } = await tx.query<{ order_id: string | null }>(
    'select order_id from payments where source = $1 and payment_id = $2',
    [source, paymentId],
  );
  const seen = rows[0];
  if (seen === undefined) return { result: 'payment_not_found' };
  const order = seen.order_id === null ? null : await lockOrder(tx, seen.order_id);
  const payment = await lockPayment(tx, source, paymentId);
  if (payment === null) return { result: 'payment_not_found' };
  // Matched with an order between the two: that order would have to be locked before the payment.
  if (payment.orderId !== seen.order_id) return { result: 'changed_meanwhile' };
  const { orderId, currency, amount: authorized } = payment;
  const id = authorizationMoveId(source, paymentId);
  // Nothing is authorised that has no amount.
  const paymentStatus = authorized === null || currency === null ? 'pending' : payment.status;
  const refusal = refuseAuthorizationMove({
    ...{
      kind,
      paymentStatus,
      amount: request.amount,
      authorized: authorized ?? 0n,
      orderStatus: order?.status ?? null,
      inOrdersCurrency: order === null || order.currency === currency,
    },
    ...(await standing(tx, kind, id)),
  });
  if (refusal === 'exists') return { result: 'exists', id };
  if (refusal === 'not_authorized' || authorized === null || currency === null) {
    return { result: 'not_authorized', status: payment.status };
  }
  if (refusal === 'exceeds_authorized') return { result: refusal, authorized, currency };
  if (refusal === 'other_currency') return { result: refusal, currency, ofOrder: order?.currency ?? '' };
  if (refusal !== null) return { result: refusal };
  const amount = request.amount ?? authorized;
  await tx.query(
    `insert into ${moneyTable(kind)} (id, source, payment_id, order_id, amount, currency, status, reference, requested_by)
     values ($1, $2, $3, $4, $5, $6, 'pending', $7, $8)`,
    [id, source, paymentId, orderId, amount, currency, authorizationMoveWorkflowId(kind, id), requestedBy],
  );
  // An order that is not there yet has no versions to be told in.
  const tellOrder = order?.id ?? null;
  await requestMove(
    tx,
    { kind, id, source, orderId, paymentId, requestedBy },
    { order_id: tellOrder, source, payment_id: paymentId, amount: amount.toString(), currency },
    tellOrder,
  );
  return { result: 'reserved', id };
}

/** The two moves that the payment can have, as they stand. */
async function standing(
  tx: Tx,
  kind: AuthorizationMoveKind,
  id: string,
): Promise<{ readonly same: MoneyStatus | null; readonly opposite: MoneyStatus | null }> {
  const { rows } = await tx.query<{ same: MoneyStatus | null; opposite: MoneyStatus | null }>(
    `select (select status from ${moneyTable(kind)} where id = $1) as same,
            (select status from ${moneyTable(kind === 'capture' ? 'void' : 'capture')} where id = $1) as opposite`,
    [id],
  );
  return rows[0] ?? { same: null, opposite: null };
}
