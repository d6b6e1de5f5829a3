import { CUSTOMER_DEPOSITS, SALES_REFUNDS, splitRefund } from '../domain/ledger.ts';
import { refundedPostingKey } from '../domain/keys.ts';
import { invoice } from './effects/invoice.ts';
import type { LockedOrder } from './lock-order.ts';
import type { Tx } from './pool.ts';
import { postToLedger } from './post-to-ledger.ts';

/**
 * Parts of the order were given back before it was complete. Until then that was a deposit returned; now that the whole
 * is sold it is a sale taken back, as if the refund had come after (B3): credit note and books are the same in either order.
 *
 * @param order as it stands now that it is paid
 */
export async function settleEarlierRefunds(tx: Tx, order: LockedOrder, pointsPerMajorUnit: number): Promise<void> {
  const { rows } = await tx.query<{ id: string; amount: bigint; source: string; payment_id: string; repeat: number }>(
    `select r.id, r.amount, r.source, r.payment_id, cardinality(r.superseded_gateway_ids) as repeat
     from refunds r join order_payments c using (source, payment_id)
     where c.order_id = $1 and r.status = 'succeeded' order by r.created_at, r.id`,
    [order.id],
  );
  let before = 0n;
  for (const refund of rows) {
    const { sale } = splitRefund(order.amountPaid - order.amountDue, before, refund.amount);
    before += refund.amount;
    const transfers = [{ debit: SALES_REFUNDS, credit: CUSTOMER_DEPOSITS, amount: sale }];
    await postToLedger(
      tx,
      { key: `sold:${refundedPostingKey(refund.id, refund.repeat)}`, currency: order.currency, transfers },
      { orderId: order.id, source: refund.source, paymentId: refund.payment_id, refundId: refund.id },
    );
    const change = { takenBy: refund.id, change: 'succeeded', saleAmount: sale, full: false } as const;
    await invoice.reverse(tx, order, { ...change, pointsPerMajorUnit });
  }
}
