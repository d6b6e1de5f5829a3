import { ONLY_TARGET, outboxEventId } from '../domain/keys.ts';
import { deliveryKeyValues, THIS_DELIVERY, type DeliveryKey, type DeliveryState } from './delivery-key.ts';
import { deliveryDeadLetterId, readDelivery } from './finish-delivery.ts';
import { openDeadLetter } from './open-dead-letter.ts';
import { inTransaction, type Pool } from './pool.ts';

/**
 * Puts a delivery whose tries are used up before a person (F5), in one transaction. One that is over by now is left alone.
 *
 * @param message why, without personal data
 */
export async function loseDelivery(pool: Pool, key: DeliveryKey, message: string): Promise<DeliveryState> {
  const eventId = outboxEventId(key.outboxId);
  return inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<{ event_type: string }>(
      `update consumer_deliveries set status = 'dead', leased_until = null, last_error = $4
       where ${THIS_DELIVERY} and status = 'in_progress' returning event_type`,
      [...deliveryKeyValues(key), message],
    );
    const lost = rows[0];
    if (lost !== undefined) {
      const { payload } = (
        await tx.query<{ payload: Record<string, unknown> }>('select payload from outbox where id = $1', [key.outboxId])
      ).rows[0] ?? { payload: {} };
      const text = (field: string) => (typeof payload[field] === 'string' ? payload[field] : null);
      const amount = text('amount');
      const whom = key.target === ONLY_TARGET ? key.consumer : `${key.consumer} ${key.target}`;
      await openDeadLetter(tx, {
        id: deliveryDeadLetterId(key),
        kind: 'delivery_failed',
        source: text('source'),
        eventId,
        orderId: text('order_id'),
        paymentId: text('payment_id'),
        refundId: text('refund_id'),
        payoutId: text('payout_id'),
        amount: amount === null ? null : BigInt(amount),
        currency: text('currency'),
        lastError: `${whom} did not take ${lost.event_type} (${eventId}): ${message}`,
        workflowId: eventId,
      });
    }
    return readDelivery(tx, key);
  });
}
