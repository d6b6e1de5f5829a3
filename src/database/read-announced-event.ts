import { outboxEventId } from '../domain/keys.ts';
import type { Db } from './pool.ts';
import { readOrder } from './read-order.ts';

/** A row of the outbox as consumers are told of it. */
export interface AnnouncedEventRow {
  readonly id: string;
  readonly type: string;
  readonly at: Date;
  readonly aggregateVersion: bigint;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The order of an event, with what a receipt needs; amounts in minor units of its currency. */
export interface AnnouncedOrderRow {
  readonly id: string;
  readonly currency: string;
  readonly amountDue: bigint;
  readonly amountPaid: bigint;
  readonly customer: { readonly id: string; readonly email: string | null; readonly name: string | null };
  readonly lines: readonly {
    readonly id: string;
    readonly kind: string;
    readonly amount: bigint;
    readonly quantity: number;
    readonly reference: string | null;
  }[];
  readonly invoices: readonly {
    readonly number: bigint;
    readonly kind: 'invoice' | 'credit_note';
    readonly amount: bigint;
    readonly refundId: string | null;
    readonly issuedAt: Date;
  }[];
}

/** The event that a row of the outbox announces; null where the row is gone. */
export async function readAnnouncedEvent(db: Db, outboxId: string): Promise<AnnouncedEventRow | null> {
  const { rows } = await db.query<Omit<AnnouncedEventRow, 'id'>>(
    `select event_type as type, created_at as at, aggregate_version as "aggregateVersion", payload from outbox where id = $1`,
    [outboxId],
  );
  return rows[0] === undefined ? null : { id: outboxEventId(outboxId), ...rows[0] };
}

/** The order that an event is about, as it stands now; null where the event names none that exists. */
export async function readAnnouncedOrder(db: Db, event: AnnouncedEventRow): Promise<AnnouncedOrderRow | null> {
  const orderId = event.payload['order_id'];
  const order = typeof orderId === 'string' ? await readOrder(db, orderId) : null;
  if (order === null) return null;
  const { rows } = await db.query<AnnouncedOrderRow['invoices'][number]>(
    `select number, kind, amount, refund_id as "refundId", issued_at as "issuedAt" from invoices where order_id = $1 order by number`,
    [order.id],
  );
  return {
    ...{ id: order.id, currency: order.currency, amountDue: order.amount_due, amountPaid: order.amount_paid },
    ...{ customer: order.customer, lines: order.lines, invoices: rows },
  };
}
