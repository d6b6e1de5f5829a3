import type { Tx } from './pool.ts';

/**
 * Whether an order belongs to an account of the other mode: to the one whose payment counts for it, or, before there is one, to the
 * one where its first checkout was prepared (A8). One that neither has is nobody's yet; the first payment that counts makes it so.
 *
 * @param others the accounts of the other mode
 */
export async function isOfOtherMode(tx: Tx, orderId: string, others: readonly string[]): Promise<boolean> {
  if (others.length === 0) return false;
  const { rows } = await tx.query<{ other: boolean }>(
    `select source = any($2) as other
     from (select 0 as rank, counted_at as at, source from order_payments where order_id = $1
           union all
           select 1, created_at, source from checkouts where order_id = $1) as bound
     order by rank, at limit 1`,
    [orderId, others],
  );
  return rows[0]?.other ?? false;
}
