import type { AdmittedEvent } from '../domain/admit-event.ts';
import { deadLetterId } from '../domain/keys.ts';
import { recoverDeadLetters } from './open-dead-letter.ts';
import { inTransaction, type Pool } from './pool.ts';

/**
 * Takes in an event that could not be understood when it came, now that it can: from here on it is as if just received. Does
 * nothing to an event that is not held, or that knows its payment.
 *
 * @returns whether it was taken in
 */
export async function readmitEvent(
  pool: Pool,
  source: string,
  eventId: string,
  event: AdmittedEvent,
): Promise<boolean> {
  return inTransaction(pool, async (tx) => {
    const taken = await tx.query(
      `update webhook_events
       set state = 'pending', event_type = $3, subject = $4, object_id = $5, payment_id = $6, order_id = $7, claimed = $8,
           reference = $9, occurred_at = to_timestamp($10::float8 / 1000), amount = $11, currency = $12, fee = $13, last_error = null, handed_over_at = null
       where source = $1 and event_id = $2 and state = 'held' and payment_id is null`,
      [
        ...[source, eventId, event.eventType, event.subject, event.objectId, event.paymentId, event.orderId],
        ...[event.claimed, event.reference, event.occurredAt, event.amount, event.currency, event.fee],
      ],
    );
    if (taken.rowCount === 0) return false;
    await recoverDeadLetters(tx, [deadLetterId('event_unreadable', source, eventId)]);
    return true;
  });
}
