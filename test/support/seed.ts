import type { Pool } from 'pg';
import type { AppliedPayment, PaymentToApply } from '../../src/database/apply-payment.ts';
import { applyPayment } from '../../src/database/apply-payment.ts';
import { readPaymentWork } from '../../src/database/read-payment-work.ts';
import type { PaymentFacts, RefundFacts } from '../../src/domain/gateway-facts.ts';
import { DEFAULT_POLICIES, type Policies } from '../../src/domain/policies.ts';

/** Rows that a test starts from, written as the product's own routes would leave them. */

export interface SeedLine {
  readonly id: string;
  readonly kind: string;
  readonly amount: bigint;
  readonly quantity?: number;
}

export async function seedOrder(
  pool: Pool,
  order: {
    readonly id: string;
    readonly currency?: string;
    readonly lines?: readonly SeedLine[];
    readonly expiresAt?: Date;
  },
): Promise<void> {
  const lines = order.lines ?? [{ id: 'l1', kind: 'enrolment', amount: 10_000n }];
  await pool.query(
    `insert into orders (id, status, currency, amount_due, customer_id, expires_at, created_by)
     values ($1, 'pending_payment', $2, $3, 'cus_1', $4, 'test')`,
    [order.id, order.currency ?? 'EUR', lines.reduce((sum, line) => sum + line.amount, 0n), order.expiresAt ?? null],
  );
  for (const [position, line] of lines.entries()) {
    await pool.query(
      'insert into order_lines (order_id, id, position, kind, amount, quantity) values ($1, $2, $3, $4, $5, $6)',
      [order.id, line.id, position, line.kind, line.amount, line.quantity ?? 1],
    );
  }
}

export async function seedEvent(
  pool: Pool,
  event: {
    readonly id: string;
    readonly paymentId: string;
    readonly type?: string;
    readonly source?: string;
    readonly orderId?: string | null;
    readonly objectId?: string;
    /** What the event itself says; about a dispute it is the truth. */
    readonly amount?: bigint | null;
    readonly currency?: string | null;
    readonly fee?: bigint | null;
    /** The gateway's own time, in milliseconds. */
    readonly at?: number | null;
  },
): Promise<void> {
  const type = event.type ?? 'payment.captured';
  const [subject, claimed] = type.split('.');
  await pool.query(
    `insert into webhook_events (source, event_id, event_type, subject, object_id, payment_id, order_id, claimed, amount, currency, fee,
                                 occurred_at, body_sha256, state)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, to_timestamp($12::float8 / 1000), '\\x00', 'pending')`,
    [
      event.source ?? 'sim',
      event.id,
      type,
      subject,
      event.objectId ?? event.paymentId,
      event.paymentId,
      event.orderId ?? null,
      claimed,
      event.amount ?? null,
      event.currency ?? null,
      event.fee ?? null,
      event.at ?? null,
    ],
  );
}

export function facts(payment: Partial<PaymentFacts> & { readonly paymentId: string }): PaymentFacts {
  return {
    orderId: 'ord_1',
    reference: null,
    status: 'captured',
    amount: 10_000n,
    currency: 'EUR',
    amountRefunded: 0n,
    mode: 'test',
    ...payment,
  };
}

export function refundFacts(refund: Partial<RefundFacts> & { readonly refundId: string }): RefundFacts {
  return {
    paymentId: 'pay_1',
    amount: 10_000n,
    currency: 'EUR',
    status: 'succeeded',
    reference: null,
    failureCode: null,
    ...refund,
  };
}

/** One look at a payment: its waiting events and the given facts go through the money transaction. */
export async function look(
  pool: Pool,
  shown: PaymentFacts | { readonly paymentId: string; readonly unknown: true },
  more: Partial<Omit<PaymentToApply, 'policies'>> & { readonly policies?: Partial<Policies> } = {},
): Promise<AppliedPayment> {
  const source = more.source ?? 'sim';
  const work = await readPaymentWork(pool, source, shown.paymentId);
  const seen = 'unknown' in shown ? null : shown;
  return applyPayment(pool, {
    mode: 'test',
    paymentId: shown.paymentId,
    events: work.events,
    callers: [],
    facts: seen,
    refunds: null,
    disputes: null,
    knownOrderId: work.payment?.decided === true ? work.payment.orderId : (seen?.orderId ?? null),
    at: new Date(),
    ...more,
    source,
    policies: { ...DEFAULT_POLICIES, ...more.policies },
  });
}
