import type { PoolClient } from 'pg';
import { orderLockName } from '../domain/keys.ts';
import { loyaltyRateOf } from '../domain/loyalty.ts';
import type { OrderStatus } from '../domain/order-states.ts';

export interface OrderLine {
  readonly id: string;
  readonly kind: 'booking' | 'enrolment' | 'gift_card' | 'package' | 'product' | 'shipping' | 'tax' | 'discount';
  readonly amount: bigint;
  readonly quantity: number;
  readonly reference: string | null;
}

/** An order whose row this transaction holds. Amounts are minor units of `currency`. */
export interface LockedOrder {
  readonly id: string;
  readonly status: OrderStatus;
  readonly currency: string;
  readonly amountDue: bigint;
  readonly amountPaid: bigint;
  readonly amountRefunded: bigint;
  /** Lost disputes of counted payments that revoke. */
  readonly amountChargedBack: bigint;
  readonly customerId: string;
  readonly paidSource: string | null;
  readonly paidPaymentId: string | null;
  /** Points for a major unit when it was paid; null before that, and for orders from before this was kept. */
  readonly loyaltyRate: number | null;
  readonly expiresAt: Date | null;
  readonly lines: readonly OrderLine[];
  /** It was paid before this system ran: nothing that follows from that happened here. */
  readonly imported: boolean;
}

interface OrderRow {
  id: string;
  status: OrderStatus;
  currency: string;
  amount_due: bigint;
  amount_paid: bigint;
  amount_refunded: bigint;
  amount_charged_back: bigint;
  loyalty_rate: bigint | null;
  customer_id: string;
  paid_source: string | null;
  paid_payment_id: string | null;
  expires_at: Date | null;
  imported: boolean;
  lines: { id: string; kind: OrderLine['kind']; amount: string; quantity: number; reference: string | null }[];
}

/**
 * Takes the order's row. Every transaction takes the order first, then its payments, then its refunds: one order of
 * locks for all, so that none waits in a circle.
 *
 * @returns null where there is no such order
 */
export async function lockOrder(tx: PoolClient, orderId: string): Promise<LockedOrder | null> {
  const { rows } = await tx.query<OrderRow>(
    `select id, status, currency, amount_due, amount_paid, amount_refunded, amount_charged_back, loyalty_rate, customer_id, paid_source, paid_payment_id,
            expires_at, imported_at is not null as imported,
            (select coalesce(json_agg(json_build_object('id', l.id, 'kind', l.kind, 'amount', l.amount::text,
                      'quantity', l.quantity, 'reference', l.reference) order by l.position), '[]')
             from order_lines l where l.order_id = orders.id) as lines
     from orders where id = $1 for no key update`,
    [orderId],
  );
  const row = rows[0];
  if (row === undefined) return null;
  return {
    id: row.id,
    status: row.status,
    currency: row.currency,
    amountDue: row.amount_due,
    amountPaid: row.amount_paid,
    amountRefunded: row.amount_refunded,
    amountChargedBack: row.amount_charged_back,
    customerId: row.customer_id,
    paidSource: row.paid_source,
    paidPaymentId: row.paid_payment_id,
    loyaltyRate: row.loyalty_rate === null ? null : loyaltyRateOf(row.loyalty_rate),
    expiresAt: row.expires_at,
    imported: row.imported,
    lines: row.lines.map((line) => ({ ...line, amount: BigInt(line.amount) })),
  };
}

/**
 * Takes the order's row, or makes sure that it does not come into being until this transaction ends: creating an order
 * takes the same advisory lock, so that of an order and its early webhook the later one sees the other (B7).
 */
export async function lockOrderOrItsAbsence(tx: PoolClient, orderId: string): Promise<LockedOrder | null> {
  const order = await lockOrder(tx, orderId);
  if (order !== null) return order;
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [orderLockName(orderId)]);
  return lockOrder(tx, orderId);
}
