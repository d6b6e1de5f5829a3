import { disputeKey } from '../domain/keys.ts';
import { moneyKept } from '../domain/money-kept.ts';
import { EFFECTS } from './effects/index.ts';
import type { MoneyTaken } from './effects/effect.ts';
import type { LockedDispute } from './lock-disputes.ts';
import type { LockedOrder } from './lock-order.ts';
import type { Tx } from './pool.ts';

/**
 * What the disputes of a payment mean to its order, as they and it stand now: the flag, and for those that revoke the money that
 * counts as gone, with what stood on it. Says the same however often it runs, and whichever of dispute, capture and refund
 * came first.
 *
 * @param disputes all of the payment; their rows are held
 * @returns the order as it stands afterwards
 */
export async function settleDisputedOrder(
  tx: Tx,
  order: LockedOrder,
  disputes: readonly LockedDispute[],
  pointsPerMajorUnit: number,
): Promise<LockedOrder> {
  let current = order;
  const counted = disputes.some((dispute) => dispute.revokes) && (await countsFor(tx, order, disputes[0]));
  for (const dispute of disputes) {
    // Money of another currency is not the order's.
    const due = counted && dispute.revokes && dispute.currency === order.currency ? dispute.amount : 0n;
    if (dispute.orderId === order.id && due === dispute.chargedBack) continue;
    await tx.query(
      'update disputes set order_id = $3, charged_back = $4, updated_at = now() where source = $1 and dispute_id = $2',
      [dispute.source, dispute.disputeId, order.id, due],
    );
    const change = due - dispute.chargedBack;
    if (change !== 0n) current = await chargeBack(tx, current, dispute, change, pointsPerMajorUnit);
  }
  await tx.query(
    `update orders o set disputed = d.disputed, updated_at = now()
     from (select exists (select from disputes where order_id = $1 and status <> 'won') as disputed) d
     where o.id = $1 and o.disputed <> d.disputed`,
    [order.id],
  );
  return current;
}

/** An order that is paid only now, while refunds and lost disputes of its parts have already taken as much. */
export async function stopWhatNothingPaysFor(tx: Tx, order: LockedOrder, pointsPerMajorUnit: number): Promise<void> {
  if (order.amountChargedBack === 0n || moneyKept(order) > 0n) return;
  const { rows } = await tx.query<LockedDispute>(
    `select source, dispute_id as "disputeId" from disputes where order_id = $1 and charged_back > 0
     order by closed_at desc, dispute_id limit 1`,
    [order.id],
  );
  const last = rows[0];
  if (last !== undefined) await reverse(tx, order, last, 'succeeded', pointsPerMajorUnit);
}

async function countsFor(tx: Tx, order: LockedOrder, dispute: LockedDispute | undefined): Promise<boolean> {
  const { rows } = await tx.query(
    'select from order_payments where source = $1 and payment_id = $2 and order_id = $3',
    [dispute?.source, dispute?.paymentId, order.id],
  );
  return rows.length > 0;
}

async function chargeBack(
  tx: Tx,
  before: LockedOrder,
  dispute: LockedDispute,
  change: bigint,
  pointsPerMajorUnit: number,
): Promise<LockedOrder> {
  const order = { ...before, amountChargedBack: before.amountChargedBack + change };
  await tx.query('update orders set amount_charged_back = $2, updated_at = now() where id = $1', [
    order.id,
    order.amountChargedBack,
  ]);
  // Before it is paid, nothing stands on its money.
  if (order.paidPaymentId !== null) {
    await reverse(tx, order, dispute, change > 0n ? 'succeeded' : 'returned', pointsPerMajorUnit);
  }
  return order;
}

async function reverse(
  tx: Tx,
  order: LockedOrder,
  { source, disputeId }: Pick<LockedDispute, 'source' | 'disputeId'>,
  change: MoneyTaken['change'],
  pointsPerMajorUnit: number,
): Promise<void> {
  const taken = { takenBy: disputeKey(source, disputeId), change, saleAmount: 0n, full: moneyKept(order) === 0n };
  for (const effect of EFFECTS) await effect.reverse(tx, order, { ...taken, pointsPerMajorUnit });
}
