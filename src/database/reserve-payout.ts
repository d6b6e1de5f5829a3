import type { Mode } from '../domain/gateway-facts.ts';
import { payoutId, payoutWorkflowId } from '../domain/keys.ts';
import type { Tx } from './pool.ts';
import { requestMove } from './request-move.ts';

export interface PayoutRequest {
  readonly mode: Mode;
  readonly source: string;
  readonly sellerId: string;
  /** YYYY-MM-DD */
  readonly settlementDate: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly destination: string;
  readonly requestedBy: string;
}

/**
 * Reserves the one payout of a seller and day (E5), with the outbox row that starts its workflow.
 *
 * @returns `exists` with the first one's id where the day is paid out, or being paid out, already
 */
export async function reservePayout(
  tx: Tx,
  request: PayoutRequest,
): Promise<{ readonly result: 'reserved' | 'exists'; readonly id: string }> {
  const { mode, source, sellerId, settlementDate, amount, currency } = request;
  const id = payoutId(mode, sellerId, settlementDate);
  const reserved = await tx.query(
    `insert into payouts (id, mode, source, seller_id, settlement_date, amount, currency, destination, status, reference, requested_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, 'pending', $9, $10)
     on conflict do nothing`,
    [
      ...[id, mode, source, sellerId, settlementDate, amount, currency, request.destination],
      ...[payoutWorkflowId(id), request.requestedBy],
    ],
  );
  if (reserved.rowCount === 0) return { result: 'exists', id };
  await requestMove(
    tx,
    { kind: 'payout', id, source, orderId: null, paymentId: null, requestedBy: request.requestedBy },
    { payout_id: id, source, seller_id: sellerId, amount: amount.toString(), currency },
  );
  return { result: 'reserved', id };
}
