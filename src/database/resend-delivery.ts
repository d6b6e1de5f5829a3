import { parseOutboxEventId, WEBHOOK_CONSUMER } from '../domain/keys.ts';
import { announce } from './announce.ts';
import { DELIVERY_COLUMNS, deliveryView, type DeliveryRow, type DeliveryView } from './list-deliveries.ts';
import { inTransaction, type Pool } from './pool.ts';

export type Resent =
  | { readonly result: 'resent'; readonly delivery: DeliveryView }
  | { readonly result: 'not_found' }
  /** A sentence says why, and what to do. */
  | { readonly result: 'not_possible'; readonly reason: string };

/**
 * Opens a delivery that is over again, in one transaction with the row of the outbox that wakes its workflow. A dead letter
 * about it stays open until it is delivered.
 *
 * @param n the delivery's number
 */
export async function resendDelivery(pool: Pool, endpointId: string, n: string): Promise<Resent> {
  return inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<DeliveryRow & { disabled: boolean }>(
      `select d.*, p.disabled from consumer_deliveries d join endpoints p on p.id = d.target
       where d.n = $1 and d.consumer = '${WEBHOOK_CONSUMER}' and d.target = $2 for no key update of d`,
      [n, endpointId],
    );
    const found = rows[0];
    if (found === undefined) return { result: 'not_found' };
    if (found.disabled) return { result: 'not_possible', reason: 'The endpoint is disabled: enable it first.' };
    if (found.status === 'in_progress') {
      return { result: 'not_possible', reason: 'It is on its way: it is tried until it is taken, or dead.' };
    }
    const kept = await tx.query('select from outbox where id = $1', [parseOutboxEventId(found.event_id)]);
    if (kept.rowCount === 0)
      return { result: 'not_possible', reason: 'The event is so old that it is not kept any more.' };
    const opened = await tx.query<DeliveryRow>(
      `update consumer_deliveries set status = 'in_progress', leased_until = null where n = $1 returning ${DELIVERY_COLUMNS}`,
      [n],
    );
    const payload = { workflow_id: found.event_id };
    await announce(tx, null, [{ eventType: 'delivery.requested', aggregateId: found.event_id, payload }]);
    return { result: 'resent', delivery: deliveryView(opened.rows[0] as DeliveryRow) };
  });
}
