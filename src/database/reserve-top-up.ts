import { topUpWorkflowId } from '../domain/keys.ts';
import type { Tx } from './pool.ts';
import { requestMove } from './request-move.ts';

export interface TopUpRequest {
  readonly id: string;
  readonly walletId: string;
  readonly source: string;
  readonly customerId: string;
  readonly paymentMethod: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly requestedBy: string;
}

export type TopUpReservation =
  | { readonly result: 'reserved'; readonly id: string }
  | { readonly result: 'currency_mismatch'; readonly currency: string }
  | { readonly result: 'other_customer' };

/** Reserves a top-up, and makes the wallet if this is its first; nothing is credited before the money came. */
export async function reserveTopUp(tx: Tx, request: TopUpRequest): Promise<TopUpReservation> {
  const { id, walletId, source, customerId, amount, currency } = request;
  await tx.query('insert into wallets (id, customer_id, currency) values ($1, $2, $3) on conflict do nothing', [
    walletId,
    customerId,
    currency,
  ]);
  const wallet = await tx.query<{ customer_id: string; currency: string }>(
    'select customer_id, currency from wallets where id = $1',
    [walletId],
  );
  const owner = wallet.rows[0];
  if (owner !== undefined && owner.currency !== currency)
    return { result: 'currency_mismatch', currency: owner.currency };
  if (owner !== undefined && owner.customer_id !== customerId) return { result: 'other_customer' };
  await tx.query(
    `insert into top_ups (id, source, wallet_id, customer_id, payment_method, amount, currency, status, reference, requested_by)
     values ($1, $2, $3, $4, $5, $6, $7, 'pending', $8, $9)`,
    [
      ...[id, source, walletId, customerId, request.paymentMethod, amount, currency],
      ...[topUpWorkflowId(id), request.requestedBy],
    ],
  );
  await requestMove(
    tx,
    { kind: 'top_up', id, source, orderId: null, paymentId: null, requestedBy: request.requestedBy },
    { wallet_id: walletId, source, top_up_id: id, amount: amount.toString(), currency },
  );
  return { result: 'reserved', id };
}
