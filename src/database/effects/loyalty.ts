import type { PoolClient } from 'pg';
import { loyaltyPointsStanding } from '../../domain/loyalty.ts';
import type { LockedOrder } from '../lock-order.ts';
import type { Effect } from './effect.ts';

/**
 * One earning per order, keyed to the payment that completed it; a refund's entry is the difference between what stands
 * after it and the sum before (C4), so that the sums stay exact in every order of events.
 */
export const loyalty: Effect = {
  name: 'loyalty',
  async apply(tx, order, { source, paymentId, pointsPerMajorUnit }) {
    await writeDifference(tx, order, pointsPerMajorUnit, { source, paymentId, takenBy: null, change: null });
  },
  async reverse(tx, order, taken) {
    // An order that never was paid earned nothing.
    if (order.paidSource === null || order.paidPaymentId === null) return;
    await writeDifference(tx, order, taken.pointsPerMajorUnit, {
      source: order.paidSource,
      paymentId: order.paidPaymentId,
      takenBy: taken.takenBy,
      change: taken.change,
    });
  },
};

interface EntryKey {
  readonly source: string;
  readonly paymentId: string;
  readonly takenBy: string | null;
  readonly change: 'succeeded' | 'returned' | null;
}

async function writeDifference(tx: PoolClient, order: LockedOrder, usual: number, key: EntryKey): Promise<void> {
  // What was earned at one rate is not taken back at another.
  const standing = loyaltyPointsStanding({ ...order, rate: order.loyaltyRate ?? usual });
  await tx.query(
    `with before as (select coalesce(sum(points), 0)::bigint as points from loyalty_entries where order_id = $1)
     insert into loyalty_entries (order_id, customer_id, source, payment_id, refund_id, refund_change, points)
     select $1, $2, $3, $4, $5, $6, $7::bigint - before.points from before where $7::bigint <> before.points
     -- a refund that the bank sent back, and that was made once more
     on conflict (source, payment_id, refund_id, refund_change)
       do update set points = loyalty_entries.points + excluded.points`,
    [order.id, order.customerId, key.source, key.paymentId, key.takenBy, key.change, standing],
  );
}
