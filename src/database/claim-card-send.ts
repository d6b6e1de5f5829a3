import { PAYABLE_ORDER_STATUSES } from '../domain/order-states.ts';
import type { CardPayment } from './card-payment.ts';
import { noteSending } from './gateway-call.ts';
import { lockOrder } from './lock-order.ts';
import { inTransaction, type Pool } from './pool.ts';

/**
 * The last look before a saved card is charged, under the order's lock: an order that was paid, cancelled or expired since takes
 * nothing, and one that is paid in part takes no more than is due.
 *
 * @returns false where the card is not to be charged any more
 */
export async function claimCardSend(pool: Pool, card: CardPayment, at: Date): Promise<boolean> {
  return inTransaction(pool, async (tx) => {
    if (card.orderId !== null) {
      const order = await lockOrder(tx, card.orderId);
      if (order === null || !PAYABLE_ORDER_STATUSES.includes(order.status)) return false;
      if (card.amount > order.amountDue - order.amountPaid) return false;
    }
    await noteSending(tx, { source: card.source, reference: card.reference, at });
    return true;
  });
}
