import type { AnnouncedEvent, AnnouncedOrder } from '../domain/announced-event.ts';
import { outboxEventId } from '../domain/keys.ts';
import type { Db } from './pool.ts';
import { readOrder } from './read-order.ts';

/** The event that a row of the outbox announces; null where the row is gone. */
export async function readAnnouncedEvent(db: Db, outboxId: string): Promise<AnnouncedEvent | null> {
  const { rows } = await db.query<Omit<AnnouncedEvent, 'id'>>(
    `select event_type as type, created_at as at, aggregate_version as "aggregateVersion", payload from outbox where id = $1`,
    [outboxId],
  );
  return rows[0] === undefined ? null : { id: outboxEventId(outboxId), ...rows[0] };
}

/** The order that an event is about, as it stands now; null where the event names none that exists. */
export async function readAnnouncedOrder(db: Db, event: AnnouncedEvent): Promise<AnnouncedOrder | null> {
  const orderId = event.payload['order_id'];
  const order = typeof orderId === 'string' ? await readOrder(db, orderId) : null;
  if (order === null) return null;
  const { rows } = await db.query<AnnouncedOrder['invoices'][number]>(
    `select number, kind, amount, refund_id as "refundId", issued_at as "issuedAt" from invoices where order_id = $1 order by number`,
    [order.id],
  );
  return {
    ...{ id: order.id, currency: order.currency, amountDue: order.amount_due, amountPaid: order.amount_paid },
    ...{ customer: order.customer, lines: order.lines, invoices: rows },
  };
}
