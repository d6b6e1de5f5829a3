import type { Db } from './pool.ts';

/** Orders and payments that belong together. */
export interface StormIds {
  readonly source: string;
  readonly orderIds: readonly string[];
  readonly paymentIds: readonly string[];
}

/** What a set of orders and their payments came to. Amounts are minor units. */
export interface StormCounts {
  readonly deliveries: bigint;
  readonly events: bigint;
  readonly pendingEvents: bigint;
  readonly heldEvents: bigint;
  /** Payments that reached an end: captured and decided, or failed. */
  readonly decidedPayments: bigint;
  readonly ordersPaid: bigint;
  readonly enrolments: bigint;
  readonly loyaltyPoints: bigint;
  readonly giftCards: bigint;
  readonly packages: bigint;
  readonly receipts: bigint;
  /** Automatic refunds for extra captures, and those of them that are over. */
  readonly extraCaptures: bigint;
  readonly finalRefunds: bigint;
  readonly openDeadLetters: bigint;
}

const COUNT = `
  with e as materialized (
    select event_id, state from webhook_events where source = $1 and payment_id = any($3)
  ), r as materialized (
    select id, kind, status from refunds where source = $1 and payment_id = any($3))
  select (select count(*) from webhook_deliveries d join e using (event_id) where d.source = $1 and not d.found) as deliveries,
         (select count(*) from e) as events,
         (select count(*) from e where state = 'pending') as "pendingEvents",
         (select count(*) from e where state = 'held') as "heldEvents",
         (select count(*) from payments where source = $1 and payment_id = any($3) and waiting_for is null
            and (status in ('failed', 'expired') or status = 'captured' and outcome is not null)) as "decidedPayments",
         (select count(*) from orders where id = any($2) and status = 'paid') as "ordersPaid",
         (select count(*) from bookings where order_id = any($2) and status = 'confirmed') as enrolments,
         (select coalesce(sum(points), 0)::bigint from loyalty_entries where order_id = any($2)) as "loyaltyPoints",
         (select count(*) from gift_cards where order_id = any($2) and status = 'active') as "giftCards",
         (select count(*) from packages where order_id = any($2) and status = 'active') as packages,
         (select count(*) from outbox where aggregate_id = any($2) and event_type = 'order.paid') as receipts,
         (select count(*) from r where kind = 'extra_capture') as "extraCaptures",
         (select count(*) from r where status in ('succeeded', 'failed')) as "finalRefunds",
         (select count(*) from dead_letters where source = $1 and payment_id = any($3) and status = 'open') as "openDeadLetters"`;

export async function readStormCounts(db: Db, { source, orderIds, paymentIds }: StormIds): Promise<StormCounts> {
  const { rows } = await db.query<StormCounts>(COUNT, [source, orderIds, paymentIds]);
  const row = rows[0];
  if (row === undefined) throw new Error('A query without a table always has a row.');
  return row;
}

/** An order that was created. */
interface OrderArrival {
  readonly what: 'order';
  readonly at: Date;
  readonly orderId: string;
}

/** A webhook about a payment, with its bytes and headers. */
interface WebhookArrival {
  readonly what: 'webhook';
  readonly at: Date;
  /** Null where the event names none. */
  readonly orderId: string | null;
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

export type StormArrival = OrderArrival | WebhookArrival;

/** All that came in, in its order. Webhooks about refunds are left out: they are our own doing. */
export async function readStormArrivals(db: Db, { source, orderIds, paymentIds }: StormIds): Promise<StormArrival[]> {
  const orders = await db.query<OrderArrival>(
    `select 'order' as what, created_at as at, id as "orderId" from orders where id = any($1)`,
    [orderIds],
  );
  const webhooks = await db.query<WebhookArrival>(
    `select 'webhook' as what, d.received_at as at, e.order_id as "orderId", d.body, d.headers
     from webhook_deliveries d join webhook_events e using (source, event_id)
     where source = $1 and e.payment_id = any($2) and e.subject = 'payment'`,
    [source, paymentIds],
  );
  return [...orders.rows, ...webhooks.rows].sort((a, b) => a.at.getTime() - b.at.getTime());
}
