import type { Effect } from './effect.ts';

/** Hands out a package per package line and unit; stops them when everything was refunded, until the bank sends some of it back. */
export const packages: Effect = {
  name: 'package',
  async apply(tx, order) {
    if (!order.lines.some((line) => line.kind === 'package')) return;
    await tx.query(
      `insert into packages (order_id, line_id, unit, reference, status)
       select l.order_id, l.id, unit, l.reference, 'active'
       from order_lines l cross join generate_series(1, l.quantity) as unit
       where l.order_id = $1 and l.kind = 'package'
       on conflict do nothing`,
      [order.id],
    );
  },
  async reverse(tx, order, taken) {
    if (taken.full) {
      await tx.query(
        `update packages set status = 'disabled', stopped_by_refund = $2 where order_id = $1 and status = 'active'`,
        [order.id, taken.takenBy],
      );
    } else if (taken.change === 'returned') {
      await tx.query(
        `update packages set status = 'active', stopped_by_refund = null where order_id = $1 and stopped_by_refund is not null`,
        [order.id],
      );
    }
  },
};
