import type { Effect } from './effect.ts';

/**
 * Issues a gift card per gift-card line and unit. A line's amount is its total: what does not divide evenly goes, a
 * minor unit each, to the first cards. When everything was refunded, an unspent card is `disabled` and a partly spent one
 * `limited`: nothing remains on it, and the spent part stands. When the bank sends some of that back, a disabled card is good
 * again; what had remained on a limited one is for the person to say who is asked about the refund.
 */
export const giftCard: Effect = {
  name: 'gift_card',
  async apply(tx, order) {
    if (!order.lines.some((line) => line.kind === 'gift_card')) return;
    await tx.query(
      `insert into gift_cards (order_id, line_id, unit, amount, remaining, currency, status)
       select l.order_id, l.id, u.unit, u.amount, u.amount, $2, 'active'
       from order_lines l
       cross join lateral (
         select unit, l.amount / l.quantity + case when unit <= l.amount % l.quantity then 1 else 0 end as amount
         from generate_series(1, l.quantity) as unit) u
       where l.order_id = $1 and l.kind = 'gift_card'
       on conflict do nothing`,
      [order.id, order.currency],
    );
  },
  async reverse(tx, order, taken) {
    if (taken.full) {
      await tx.query(
        `update gift_cards set status = case when remaining = amount then 'disabled' else 'limited' end,
                remaining = 0, stopped_by_refund = $2
         where order_id = $1 and status = 'active'`,
        [order.id, taken.takenBy],
      );
    } else if (taken.change === 'returned') {
      await tx.query(
        `update gift_cards set status = 'active', remaining = amount, stopped_by_refund = null
         where order_id = $1 and status = 'disabled' and stopped_by_refund is not null`,
        [order.id],
      );
    }
  },
};
