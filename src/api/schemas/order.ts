import { z } from 'zod';
import { ORDER_STATUSES } from '../../domain/order-states.ts';
import { PAYMENT_STATUSES } from '../../domain/payment-states.ts';
import type { RequestMistake } from '../../domain/problem.ts';
import { REFUND_STATUSES } from '../../domain/refund-states.ts';
import { amount, currency, moment, positiveAmount, text, time, visibleId } from './common.ts';

const LINE_KINDS = ['booking', 'enrolment', 'gift_card', 'package', 'product', 'shipping', 'tax', 'discount'] as const;

/** All lines are written in one transaction, and read as one answer. */
const MOST_LINES = 500;
/** Each gift card and package is a row of the money transaction, which must stay short. */
const MOST_UNITS = 1_000;

const lineFields = {
  id: text(200).describe('Unique in its order.'),
  kind: z.enum(LINE_KINDS, { error: `must be one of ${LINE_KINDS.join(', ')}` }),
  reference: text(500).nullish().describe('What it stands for in your system.'),
};

const newOrderLine = z.strictObject({
  ...lineFields,
  amount: z
    .int({ error: 'must be a whole number of minor units' })
    .describe("The line's total; only a discount's is negative."),
  quantity: z
    .int({ error: 'must be a whole number' })
    .min(1, { error: 'must be at least 1' })
    .max(MOST_UNITS, { error: `must be at most ${MOST_UNITS}` })
    .nullish()
    .describe('1 if left out. Gift cards and packages: one each.'),
});

/** A customer's address, as orders and imports take it. */
const email = text(320).refine((address) => /^[^\s@]+@[^\s@]+$/.test(address), { error: 'must be an e-mail address' });

export const newOrder = z
  .strictObject({
    id: visibleId.nullish().describe('Your own id; one is made from the Idempotency-Key if left out.'),
    currency,
    amount: positiveAmount.describe('What is due, in minor units: the sum of the lines.'),
    customer: z.strictObject({
      id: text(200),
      email: email.nullish(),
      name: text(200).nullish(),
    }),
    lines: z
      .array(newOrderLine, { error: 'must be a list of lines' })
      .min(1, { error: 'must have at least one line' })
      .max(MOST_LINES, { error: `must have at most ${MOST_LINES} lines` }),
    expires_at: moment.nullish().describe('An order that is not paid by then expires.'),
  })
  .meta({ id: 'NewOrder' });

/** An order that was paid before this system ran. */
export const orderToImport = z
  .strictObject({
    id: visibleId,
    currency,
    amount: positiveAmount.describe('What was due and paid, in minor units.'),
    customer_id: text(200),
    customer_email: email.nullish(),
    customer_name: text(200).nullish(),
    source: text(32).describe('The configured source that captured it.'),
    payment_id: visibleId.describe("The gateway's payment."),
    paid_at: moment,
    amount_refunded: z
      .int({ error: 'must be a whole number of minor units' })
      .min(0, { error: 'must be at least 0' })
      .nullish()
      .describe('What of it the gateway shows as refunded.'),
  })
  .refine((order) => (order.amount_refunded ?? 0) <= order.amount, {
    error: 'must not be more than amount',
    path: ['amount_refunded'],
  });

/** Each is a transaction of its own; all of them end within a request's time. */
export const MOST_IMPORTED = 100;

export const importRequest = z.strictObject({
  orders: z
    .array(orderToImport, { error: 'must be a list of orders' })
    .min(1, { error: 'must have at least one order' })
    .max(MOST_IMPORTED, { error: `must have at most ${MOST_IMPORTED} orders` }),
  dry_run: z
    .boolean({ error: 'must be true or false' })
    .optional()
    .describe('Write nothing, and answer what would be.'),
});

export const importReport = z
  .strictObject({
    imported: z.int().describe('Written now; with `dry_run`, what would be.'),
    unchanged: z.int().describe('There already, as they are here.'),
    refused: z.array(z.strictObject({ index: z.int(), id: z.string(), reason: z.string() })),
  })
  .meta({ id: 'ImportReport' });

/** The mistakes that lie between fields. Takes any JSON: they are listed beside all the others. */
export function orderMistakes(body: unknown): RequestMistake[] {
  const { lines, amount: due } = (body ?? {}) as { lines?: unknown; amount?: unknown };
  if (!Array.isArray(lines)) return [];
  const entries = lines.map(
    (line: unknown) => (line ?? {}) as { id?: unknown; kind?: unknown; amount?: unknown; quantity?: unknown },
  );
  const ids = entries.map((line) => line.id);
  const mistakes = entries.flatMap((line, at) => {
    const found: RequestMistake[] = [];
    if (typeof line.id === 'string' && ids.indexOf(line.id) < at) {
      found.push({ path: `lines[${at}].id`, message: 'is the id of an earlier line' });
    }
    const rightSide =
      line.kind === 'discount'
        ? 'must not be above 0: a discount is taken off'
        : 'must not be negative: only a discount is';
    const wrong = line.kind === 'discount' ? Number(line.amount) > 0 : Number(line.amount) < 0;
    if (typeof line.amount === 'number' && wrong) found.push({ path: `lines[${at}].amount`, message: rightSide });
    return found;
  });
  const units = entries
    .filter((line) => line.kind === 'gift_card' || line.kind === 'package')
    .reduce((sum, line) => sum + (typeof line.quantity === 'number' ? line.quantity : 1), 0);
  if (units > MOST_UNITS) {
    mistakes.push({
      path: 'lines',
      message: `must not ask for more than ${MOST_UNITS} gift cards and packages in all`,
    });
  }
  const amounts = entries.map((line) => line.amount);
  if (typeof due === 'number' && amounts.every((part) => typeof part === 'number')) {
    const sum = amounts.reduce<bigint>((total, part) => total + BigInt(part), 0n);
    if (sum !== BigInt(due)) {
      mistakes.push({ path: 'amount', message: `must be the sum of the lines, which is ${sum}` });
    }
  }
  return mistakes;
}

export const refund = z.strictObject({
  id: z.string(),
  source: z.string(),
  payment_id: z.string(),
  amount,
  status: z.enum(REFUND_STATUSES),
  kind: z.enum(['requested', 'extra_capture', 'late_capture', 'gateway']),
  gateway_refund_id: z.string().nullable(),
});

export const order = z
  .strictObject({
    id: z.string(),
    status: z.enum(ORDER_STATUSES),
    currency,
    amount_due: amount,
    amount_paid: amount.describe('Captured money kept for this order, surplus included.'),
    amount_refunded: amount.describe('Refunds of that money that stand succeeded.'),
    surplus: amount,
    paid_source: z.string().nullable(),
    paid_payment_id: z.string().nullable(),
    paid_at: time.nullable(),
    disputed: z.boolean(),
    customer: z.strictObject({ id: z.string(), email: z.string().nullable(), name: z.string().nullable() }),
    created_at: time,
    expires_at: time.nullable(),
    lines: z.array(z.strictObject({ ...lineFields, amount, quantity: z.int(), reference: z.string().nullable() })),
    payments: z.array(
      z.strictObject({
        source: z.string(),
        payment_id: z.string(),
        status: z.enum(PAYMENT_STATUSES),
        amount: amount.nullable(),
        counted: z.boolean(),
      }),
    ),
    refunds: z.array(refund),
    consequences: z.strictObject({
      bookings: z.array(z.strictObject({ line_id: z.string(), status: z.enum(['confirmed', 'cancelled']) })),
      loyalty: z.array(
        z.strictObject({
          payment_id: z.string(),
          refund_id: z.string().nullable().describe("A refund's id, or dispute:{source}:{dispute_id}."),
          points: z.int().describe('Signed; their sum is what the customer holds of this order.'),
        }),
      ),
      gift_cards: z.array(
        z.strictObject({
          line_id: z.string(),
          unit: z.int(),
          amount,
          remaining: amount,
          status: z.enum(['active', 'limited', 'disabled']),
        }),
      ),
      packages: z.array(z.strictObject({ line_id: z.string(), unit: z.int(), status: z.enum(['active', 'disabled']) })),
      invoices: z.array(z.strictObject({ number: z.int(), kind: z.enum(['invoice', 'credit_note']), amount })),
    }),
  })
  .meta({ id: 'Order' });

export const newCheckout = z
  .strictObject({
    source: text(32).describe('The name of a configured source.'),
    return_url: text(2000)
      .refine((url) => /^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''), {
        error: 'must be an http or https URL',
      })
      .nullish(),
  })
  .meta({ id: 'NewCheckout' });

export const checkout = z
  .strictObject({
    order_id: z.string(),
    n: z.int(),
    source: z.string(),
    status: z.enum(['pending', 'succeeded', 'failed', 'unknown', 'needs_review']),
    payment_id: z.string().optional(),
    checkout_url: z.string().optional().describe('Where the customer pays; or the client_secret.'),
    client_secret: z.string().optional(),
    failure_code: z.string().optional(),
    workflow_id: z.string(),
  })
  .meta({ id: 'Checkout' });
