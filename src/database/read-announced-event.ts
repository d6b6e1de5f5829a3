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
    // Whatever a transaction writes has the transaction's time, to the microsecond.
    `select i.number, i.kind, i.amount, i.refund_id as "refundId", i.issued_at as "issuedAt",
            i.kind = 'credit_note' and exists (
              select from invoices w where w.order_id = i.order_id and w.kind = 'invoice' and w.issued_at = i.issued_at) as "withInvoice"
     from invoices i where i.order_id = $1 order by i.number`,
    [order.id],
  );
  return {
    ...{ id: order.id, currency: order.currency, amountDue: order.amount_due, amountPaid: order.amount_paid },
    ...{ customer: order.customer, lines: order.lines, invoices: rows },
  };
}
