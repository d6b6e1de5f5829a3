import type { RefundFacts } from '../domain/gateway-facts.ts';
import { importedRefundId } from '../domain/keys.ts';
import { refundsBeforeImport } from '../domain/refunds-before-import.ts';
import type { RefundedPayment, RefundRow } from './apply-refunds.ts';
import type { Tx } from './pool.ts';

/**
 * The gateway lists all refunds of a payment, also those from before it was imported. The row that stands for them takes their
 * ids, so that they are told from new ones from then on.
 *
 * @returns the rows of the payment's refunds as they stand afterwards
 */
export async function forgetRefundsBeforeImport(
  tx: Tx,
  { source, paymentId }: RefundedPayment,
  rows: readonly RefundRow[],
  facts: readonly RefundFacts[],
): Promise<readonly RefundRow[]> {
  const before = rows.find((row) => row.id === importedRefundId(source, paymentId));
  if (before === undefined) return rows;
  const known = facts.filter((fact) => before.supersededGatewayIds.includes(fact.refundId));
  const left = known.reduce((sum, fact) => sum - fact.amount, before.amount);
  const unknown = facts.filter(
    (fact) =>
      !known.includes(fact) &&
      !rows.some(
        (row) => row.gatewayRefundId === fact.refundId || (row.reference !== null && row.reference === fact.reference),
      ),
  );
  const ids = refundsBeforeImport(left, unknown).map((fact) => fact.refundId);
  if (ids.length === 0) return rows;
  await tx.query('update refunds set superseded_gateway_ids = superseded_gateway_ids || $2::text[] where id = $1', [
    before.id,
    ids,
  ]);
  const grown = { ...before, supersededGatewayIds: [...before.supersededGatewayIds, ...ids] };
  return rows.map((row) => (row === before ? grown : row));
}
