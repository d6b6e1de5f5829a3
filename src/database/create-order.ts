import { orderLockName } from '../domain/keys.ts';
import { unpaidOrderStatus } from '../domain/order-states.ts';
import type { PaymentStatus } from '../domain/payment-states.ts';
import { announce } from './announce.ts';
import type { OrderLine } from './lock-order.ts';
import type { Tx } from './pool.ts';
import { recordTransition } from './record-transition.ts';

/** An order as its maker asks for it. Amounts are minor units of `currency`; the lines add up to `amount`. */
export interface NewOrder {
  readonly id: string;
  readonly currency: string;
  readonly amount: bigint;
  readonly customer: { readonly id: string; readonly email: string | null; readonly name: string | null };
  readonly lines: readonly OrderLine[];
  readonly expiresAt: Date | null;
  /** The API client. */
  readonly createdBy: string;
}

/** A payment that waited for the order and is to be woken after the commit. */
export interface WokenPayment {
  readonly source: string;
  readonly paymentId: string;
  /** One of its events; null where it is known without one. */
  readonly eventId: string | null;
}

/**
 * Writes the order and its lines and wakes what waited for it (B7). Holds the advisory lock that a payment takes before it
 * says "no such order", so that of an order and its early webhook the later one sees the other.
 */
export async function createOrder(
  tx: Tx,
  order: NewOrder,
): Promise<{ readonly woken: readonly WokenPayment[] } | 'exists'> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [orderLockName(order.id)]);
  const known = await tx.query<{ status: PaymentStatus }>('select status from payments where order_id = $1', [
    order.id,
  ]);
  const status = unpaidOrderStatus(known.rows.map((payment) => payment.status));
  const { customer } = order;
  const created = await tx.query(
    `insert into orders (id, status, currency, amount_due, customer_id, customer_email, customer_name, expires_at, created_by,
                         aggregate_version)
     -- a payment of it may have been announced before it
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9,
             coalesce((select max(aggregate_version) from outbox where aggregate_id = $1), 0))
     on conflict do nothing returning 1`,
    [
      ...[order.id, status, order.currency, order.amount, customer.id, customer.email, customer.name],
      ...[order.expiresAt?.toISOString() ?? null, order.createdBy],
    ],
  );
  if (created.rowCount === 0) return 'exists';
  await writeLines(tx, order);
  await recordTransition(tx, {
    ...{ machine: 'order', objectId: order.id, from: null, to: status, orderId: order.id },
    cause: `created by ${order.createdBy}`,
  });
  if (order.expiresAt !== null) {
    const payload = { order_id: order.id, expires_at: order.expiresAt.toISOString() };
    await announce(tx, order.id, [{ eventType: 'order.expiry_requested', payload }]);
  }
  return { woken: await wakePayments(tx, order.id) };
}

async function writeLines(tx: Tx, { id, lines }: NewOrder): Promise<void> {
  await tx.query(
    `insert into order_lines (order_id, position, id, kind, amount, quantity, reference)
     select $1, position, id, kind, amount, quantity, reference
     from unnest($2::text[], $3::text[], $4::bigint[], $5::integer[], $6::text[])
       with ordinality as l (id, kind, amount, quantity, reference, position)`,
    [
      id,
      lines.map((line) => line.id),
      lines.map((line) => line.kind),
      lines.map((line) => line.amount),
      lines.map((line) => line.quantity),
      lines.map((line) => line.reference),
    ],
  );
}

/**
 * Events of the payments that named this order: those that wait, and those for which the waiting was over and a human was
 * asked. They are as if just received: not handed over, so that the relay takes them if this process dies now.
 */
export async function wakePayments(tx: Tx, orderId: string): Promise<WokenPayment[]> {
  const { rows } = await tx.query<{ source: string; payment_id: string; event_id: string | null }>(
    `with waiting as (
       select source, payment_id from payments where order_id = $1
       union
       select source, payment_id from webhook_events where order_id = $1 and payment_id is not null
     ), locked as (
       -- in the order in which everybody takes the rows of several events
       select e.source, e.event_id from webhook_events e join waiting w using (source, payment_id)
       where e.state = 'pending' or (e.state = 'held' and exists (
         select 1 from dead_letters d
         where d.source = w.source and d.payment_id = w.payment_id
           and d.kind = 'unmatched_payment' and d.status = 'open'))
       order by e.source, e.event_id for no key update of e
     ), woken as (
       update webhook_events e
       set look_again_at = date_trunc('milliseconds', now()), handed_over_at = null, next_look_at = null
       from locked l
       where e.source = l.source and e.event_id = l.event_id
       returning e.source, e.payment_id, e.event_id
     )
     select w.source, w.payment_id, min(k.event_id) as event_id
     from waiting w
     left join woken k using (source, payment_id)
     left join payments p using (source, payment_id)
     where k.event_id is not null or p.waiting_for = 'order'
     group by w.source, w.payment_id`,
    [orderId],
  );
  return rows.map((row) => ({ source: row.source, paymentId: row.payment_id, eventId: row.event_id }));
}
