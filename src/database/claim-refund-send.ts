import type { Pool } from 'pg';
import { noteSending } from './gateway-call.ts';
import { inTransaction } from './pool.ts';

/**
 * The last look before a refund is sent: under the refund's lock, so that a refund found at the gateway meanwhile either
 * changed the reservation before, or sees it as sent (E6).
 *
 * @returns the amount to send; null where the refund is not to be sent any more
 */
export async function claimRefundSend(
  pool: Pool,
  refund: { readonly id: string; readonly source: string; readonly reference: string },
  at: Date,
): Promise<bigint | null> {
  return inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<{ amount: bigint }>(
      `select amount from refunds
       where id = $1 and status in ('pending', 'unknown') and gateway_refund_id is null for update`,
      [refund.id],
    );
    const amount = rows[0]?.amount ?? null;
    if (amount !== null) await noteSending(tx, { ...refund, at });
    return amount;
  });
}
