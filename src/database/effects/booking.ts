import type { Effect } from './effect.ts';

/**
 * Confirms the order's bookings and enrolments; takes them back when everything was refunded, and confirms them again when
 * the bank sends some of that back: where they stand follows from the money, not from the way it took (B3).
 */
export const booking: Effect = {
  name: 'booking',
  async apply(tx, order) {
    if (!order.lines.some((line) => line.kind === 'booking' || line.kind === 'enrolment')) return;
    await tx.query(
      `insert into bookings (order_id, line_id, kind, reference, status)
       select order_id, id, kind, reference, 'confirmed' from order_lines
       where order_id = $1 and kind in ('booking', 'enrolment')
       on conflict do nothing`,
      [order.id],
    );
  },
  async reverse(tx, order, taken) {
    if (taken.full) {
      await tx.query(
        `update bookings set status = 'cancelled', cancelled_by_refund = $2, cancelled_at = now()
         where order_id = $1 and status = 'confirmed'`,
        [order.id, taken.takenBy],
      );
    } else if (taken.change === 'returned') {
      await tx.query(
        `update bookings set status = 'confirmed', cancelled_by_refund = null, cancelled_at = null
         where order_id = $1 and cancelled_by_refund is not null`,
        [order.id],
      );
    }
  },
};
