import type { OrderStatus } from '../domain/order-states.ts';
import type { PaymentStatus } from '../domain/payment-states.ts';
import type { RefundStatus } from '../domain/refund-states.ts';
import type { Db } from './pool.ts';

/** An order as the API shows it; field names are those of the contract. Amounts are minor units of `currency`. */
export interface OrderView {
  readonly id: string;
  readonly status: OrderStatus;
  readonly currency: string;
  readonly amount_due: bigint;
  /** Captured money kept for this order, surplus included; extra and late captures excluded. */
  readonly amount_paid: bigint;
  /** The refunds of those same payments that stand succeeded. */
  readonly amount_refunded: bigint;
  readonly surplus: bigint;
  readonly paid_source: string | null;
  readonly paid_payment_id: string | null;
  readonly paid_at: string | null;
  readonly disputed: boolean;
  readonly customer: { readonly id: string; readonly email: string | null; readonly name: string | null };
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly lines: readonly {
    readonly id: string;
    readonly kind: string;
    readonly amount: bigint;
    readonly quantity: number;
    readonly reference: string | null;
  }[];
  readonly payments: readonly {
    readonly source: string;
    readonly payment_id: string;
    readonly status: PaymentStatus;
    readonly amount: bigint | null;
    readonly counted: boolean;
  }[];
  readonly refunds: readonly {
    readonly id: string;
    readonly source: string;
    readonly payment_id: string;
    readonly amount: bigint;
    readonly status: RefundStatus;
    readonly kind: 'requested' | 'extra_capture' | 'late_capture' | 'gateway';
    readonly gateway_refund_id: string | null;
  }[];
  readonly consequences: {
    readonly bookings: readonly { readonly line_id: string; readonly status: string }[];
    readonly loyalty: readonly {
      readonly payment_id: string;
      readonly refund_id: string | null;
      readonly points: bigint;
    }[];
    readonly gift_cards: readonly {
      readonly line_id: string;
      readonly unit: number;
      readonly amount: bigint;
      readonly remaining: bigint;
      readonly status: string;
    }[];
    readonly packages: readonly { readonly line_id: string; readonly unit: number; readonly status: string }[];
    readonly invoices: readonly { readonly number: bigint; readonly kind: string; readonly amount: bigint }[];
  };
}

/** What is asked of each part: its rows as JSON, with whole numbers as text, since JSON's own would be rounded. */
const PARTS = {
  lines: `select id, kind, amount::text, quantity, reference from order_lines where order_id = $1 order by position`,
  payments: `
    select p.source, p.payment_id, p.status, p.amount::text,
           exists (select 1 from order_payments c where c.source = p.source and c.payment_id = p.payment_id) as counted
    from payments p where p.order_id = $1 order by p.created_at, p.source, p.payment_id`,
  refunds: `
    select r.id, r.source, r.payment_id, r.amount::text, r.status, r.kind, r.gateway_refund_id
    from refunds r
    where r.order_id = $1
       or exists (select 1 from payments p where p.order_id = $1 and p.source = r.source and p.payment_id = r.payment_id)
    order by r.created_at, r.id`,
  bookings: `select line_id, status from bookings where order_id = $1 order by line_id`,
  loyalty: `select payment_id, refund_id, points::text from loyalty_entries where order_id = $1 order by id`,
  gift_cards: `
    select line_id, unit, amount::text, remaining::text, status from gift_cards where order_id = $1 order by line_id, unit`,
  packages: `select line_id, unit, status from packages where order_id = $1 order by line_id, unit`,
  invoices: `select number::text, kind, amount::text from invoices where order_id = $1 order by number`,
} as const;

/** One statement, so that all parts show the same moment. */
const READ = `
  select id, status, currency, amount_due, amount_paid, amount_refunded, paid_source, paid_payment_id, paid_at, disputed,
         customer_id, customer_email, customer_name, created_at, expires_at,
         ${Object.entries(PARTS)
           .map(([name, part]) => `(select coalesce(json_agg(to_json(r)), '[]') from (${part}) r) as ${name}`)
           .join(', ')}
  from orders where id = $1`;

type Part = readonly Record<string, unknown>[];

interface OrderRow extends Record<keyof typeof PARTS, Part> {
  id: string;
  status: OrderStatus;
  currency: string;
  amount_due: bigint;
  amount_paid: bigint;
  amount_refunded: bigint;
  paid_source: string | null;
  paid_payment_id: string | null;
  paid_at: Date | null;
  disputed: boolean;
  customer_id: string;
  customer_email: string | null;
  customer_name: string | null;
  created_at: Date;
  expires_at: Date | null;
}

/** The order with everything that belongs to it; null where there is none. */
export async function readOrder(db: Db, orderId: string): Promise<OrderView | null> {
  const { rows } = await db.query<OrderRow>(READ, [orderId]);
  const row = rows[0];
  if (row === undefined) return null;
  const { bookings, loyalty, gift_cards, packages, invoices, lines, payments, refunds } = row;
  return {
    id: row.id,
    status: row.status,
    currency: row.currency,
    amount_due: row.amount_due,
    amount_paid: row.amount_paid,
    amount_refunded: row.amount_refunded,
    surplus: row.amount_paid > row.amount_due ? row.amount_paid - row.amount_due : 0n,
    paid_source: row.paid_source,
    paid_payment_id: row.paid_payment_id,
    paid_at: row.paid_at?.toISOString() ?? null,
    disputed: row.disputed,
    customer: { id: row.customer_id, email: row.customer_email, name: row.customer_name },
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    lines: exact<OrderView['lines']>(lines, ['amount']),
    payments: exact<OrderView['payments']>(payments, ['amount']),
    refunds: exact<OrderView['refunds']>(refunds, ['amount']),
    consequences: {
      bookings: exact<OrderView['consequences']['bookings']>(bookings, []),
      loyalty: exact<OrderView['consequences']['loyalty']>(loyalty, ['points']),
      gift_cards: exact<OrderView['consequences']['gift_cards']>(gift_cards, ['amount', 'remaining']),
      packages: exact<OrderView['consequences']['packages']>(packages, []),
      invoices: exact<OrderView['consequences']['invoices']>(invoices, ['number', 'amount']),
    },
  };
}

/** The rows with the named members, which came as text, as bigint. */
function exact<T extends readonly object[]>(rows: Part, members: readonly string[]): T {
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        members.includes(name) && typeof value === 'string' ? BigInt(value) : value,
      ]),
    ),
  ) as unknown as T;
}
