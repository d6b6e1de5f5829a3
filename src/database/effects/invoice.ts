import type { Effect } from './effect.ts';

/**
 * One invoice per paid order, over what was due; a credit note per refund that takes back a sale. A refund that the bank
 * returned keeps its credit note: a human settles it, and a number once given out is never withdrawn.
 */
export const invoice: Effect = {
  name: 'invoice',
  async apply(tx, order) {
    await tx.query(
      `insert into invoices (order_id, kind, amount, currency) values ($1, 'invoice', $2, $3)
       on conflict (order_id) where kind = 'invoice' do nothing`,
      [order.id, order.amountDue, order.currency],
    );
  },
  async reverse(tx, order, taken) {
    if (taken.change !== 'succeeded' || taken.saleAmount === 0n) return;
    await tx.query(
      `insert into invoices (order_id, kind, amount, currency, refund_id) values ($1, 'credit_note', $2, $3, $4)
       on conflict (refund_id) where kind = 'credit_note' do nothing`,
      [order.id, taken.saleAmount, order.currency, taken.takenBy],
    );
  },
};
