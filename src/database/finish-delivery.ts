import { deadLetterId, gateConsumer, outboxEventId } from '../domain/keys.ts';
import { deliveryKeyValues, THIS_DELIVERY, type DeliveryKey, type DeliveryState } from './delivery-key.ts';
import { recoverDeadLetters } from './open-dead-letter.ts';
import { inTransaction, type Db, type Pool } from './pool.ts';

/** The one dead letter that a delivery can have. */
export function deliveryDeadLetterId({ outboxId, consumer, target }: DeliveryKey): string {
  return deadLetterId('delivery_failed', consumer, target, outboxEventId(outboxId));
}

/**
 * Records that the target has the event, with the gate's row, in one transaction (G3). True whatever the row said meanwhile:
 * a person who was asked about it is asked no more.
 */
export async function recordDelivered(pool: Pool, key: DeliveryKey, httpStatus: number | null): Promise<DeliveryState> {
  return inTransaction(pool, async (tx) => {
    await tx.query(
      `update consumer_deliveries
       set status = 'done', leased_until = null, last_error = null, last_status = $4, done_at = clock_timestamp()
       where ${THIS_DELIVERY} and status <> 'done'`,
      [...deliveryKeyValues(key), httpStatus],
    );
    await tx.query(
      `insert into processed_events (consumer, event_id, outcome) values ($1, $2, 'done') on conflict do nothing`,
      [gateConsumer(key.consumer, key.target), outboxEventId(key.outboxId)],
    );
    await recoverDeadLetters(tx, [deliveryDeadLetterId(key)]);
    return readDelivery(tx, key);
  });
}

/** Records that there is nothing to be sent, and why. */
export async function skipDelivery(pool: Pool, key: DeliveryKey, reason: string): Promise<DeliveryState> {
  await pool.query(
    `update consumer_deliveries set status = 'skipped', leased_until = null, last_error = $4
     where ${THIS_DELIVERY} and status = 'in_progress'`,
    [...deliveryKeyValues(key), reason],
  );
  return readDelivery(pool, key);
}

/** Notes why an attempt failed, and lets go of the delivery, unless another attempt has it by now. */
export async function releaseDelivery(
  pool: Pool,
  key: DeliveryKey,
  attempt: number,
  failure: { readonly message: string; readonly httpStatus: number | null },
): Promise<void> {
  await pool.query(
    `update consumer_deliveries set leased_until = null, last_error = $5, last_status = $6
     where ${THIS_DELIVERY} and attempts = $4 and status = 'in_progress'`,
    [...deliveryKeyValues(key), attempt, failure.message, failure.httpStatus],
  );
}

/** Where a delivery stands. */
export async function readDelivery(db: Db, key: DeliveryKey): Promise<DeliveryState> {
  const { rows } = await db.query<DeliveryState>(
    `select status, attempts from consumer_deliveries where ${THIS_DELIVERY}`,
    deliveryKeyValues(key),
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`No delivery of outbox:${key.outboxId} to ${key.consumer} was planned.`);
  return row;
}
