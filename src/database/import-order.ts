import { capturedPostingKey, deadLetterId, importedRefundId, refundedPostingKey } from '../domain/keys.ts';
import { gatewayAccount, OPENING_BALANCES, UNALLOCATED } from '../domain/ledger.ts';
import { wakePayments, type WokenPayment } from './create-order.ts';
import { lockOrderOrItsAbsence } from './lock-order.ts';
import { lockPayment, type LockedPayment } from './lock-payment.ts';
import { recoverDeadLetters } from './open-dead-letter.ts';
import { inTransaction, type Pool, type Tx } from './pool.ts';
import { postToLedger } from './post-to-ledger.ts';

/** An order that was paid before this system ran, by one payment. Amounts are minor units of `currency`. */
export interface OrderToImport {
  readonly id: string;
  readonly currency: string;
  readonly amount: bigint;
  readonly customer: { readonly id: string; readonly email: string | null; readonly name: string | null };
  readonly source: string;
  readonly paymentId: string;
  readonly paidAt: Date;
  /** What of it has gone back already. */
  readonly amountRefunded: bigint;
}

export type ImportResult =
  /** `woken`: events of it that had come before are looked at again. */
  | { readonly result: 'imported'; readonly woken: readonly WokenPayment[] }
  /** It was imported before, as it is here. */
  | { readonly result: 'unchanged' }
  /** What stands here says otherwise; a sentence. */
  | { readonly result: 'refused'; readonly reason: string };

/**
 * Writes an order as paid and its payment as counted, with no consequence and no announcement: all that followed from it happened
 * elsewhere, long ago. The money gets one opening posting, so that what is given back of it later has something to be taken from.
 * Safe to repeat: the second time changes nothing.
 */
export async function importOrder(
  pool: Pool,
  order: OrderToImport,
  options: { readonly by: string; readonly dryRun: boolean },
): Promise<ImportResult> {
  return inTransaction(pool, async (tx) => {
    const there = await lockOrderOrItsAbsence(tx, order.id);
    if (there !== null) return compare(tx, order);
    const payment = await lockPayment(tx, order.source, order.paymentId);
    const reason = payment === null ? null : contradiction(order, payment);
    if (reason !== null) return { result: 'refused', reason };
    if (options.dryRun) return { result: 'imported', woken: [] };
    await write(tx, order, payment, `imported by ${options.by}`);
    const woken = await wakePayments(tx, order.id);
    await recoverDeadLetters(tx, [deadLetterId('unmatched_payment', order.source, order.paymentId)]);
    return { result: 'imported', woken };
  });
}

async function compare(tx: Tx, order: OrderToImport): Promise<ImportResult> {
  const { rows } = await tx.query<{ imported: boolean; status: string; same: boolean; differing: string[] }>(
    `select imported_at is not null as imported, status,
            array_remove(array[case when currency <> $2 then 'currency' end, case when amount_due <> $3 then 'amount' end,
              case when customer_id <> $4 then 'customer_id' end, case when paid_source is distinct from $5 then 'source' end,
              case when paid_payment_id is distinct from $6 then 'payment_id' end, case when paid_at is distinct from $7 then 'paid_at' end,
              case when imported_refunded <> $8 then 'amount_refunded' end], null) as differing
     from orders where id = $1`,
    [
      ...[order.id, order.currency, order.amount, order.customer.id, order.source, order.paymentId],
      ...[order.paidAt.toISOString(), order.amountRefunded],
    ],
  );
  const there = rows[0];
  if (there?.imported !== true) {
    return { result: 'refused', reason: `This order was made here, and is ${there?.status ?? 'gone'}.` };
  }
  if (there.differing.length === 0) return { result: 'unchanged' };
  return { result: 'refused', reason: `It was imported before with another ${there.differing.join(' and ')}.` };
}

/** A payment that is known is taken for this order only if it is captured, whole, and waits for exactly it. */
function contradiction(order: OrderToImport, payment: LockedPayment): string | null {
  const about = `Payment ${order.paymentId} of ${order.source}`;
  if (payment.counted !== null || payment.credited || payment.automaticRefund !== null) {
    return `${about} belongs to ${payment.orderId === null ? 'something else' : `order ${payment.orderId}`} here.`;
  }
  if (payment.orderId !== order.id) return `${about} names ${payment.orderId ?? 'no'} order.`;
  if (payment.status !== 'captured') return `${about} is ${payment.status} here.`;
  if (payment.amount !== order.amount || payment.currency !== order.currency) {
    return `${about} is over ${payment.amount?.toString() ?? 'nothing'} ${payment.currency ?? ''} here.`;
  }
  return payment.amountRefunded > 0n ? `Refunds of ${about} are known here: they cannot be imported once more.` : null;
}

async function write(tx: Tx, order: OrderToImport, known: LockedPayment | null, cause: string): Promise<void> {
  const { id, currency, amount, customer, source, paymentId, paidAt, amountRefunded } = order;
  await tx.query(
    `with made as (
       insert into orders (id, status, currency, amount_due, amount_paid, amount_refunded, customer_id, customer_email, customer_name,
                           paid_source, paid_payment_id, paid_at, created_by, imported_at, imported_refunded, aggregate_version)
       -- a payment of it may have been announced before it
       values ($1, 'paid', $2, $3, $3, $4, $5, $6, $7, $8, $9, $10, $11, now(), $4,
               coalesce((select max(aggregate_version) from outbox where aggregate_id = $1), 0))
     ), line as (
       insert into order_lines (order_id, position, id, kind, amount) values ($1, 1, 'imported', 'product', $3)
     ), payment as (
       insert into payments (source, payment_id, order_id, status, amount, currency, amount_refunded, outcome)
       values ($8, $9, $1, 'captured', $3, $2, $4, 'marked_paid')
       on conflict (source, payment_id) do update set outcome = 'marked_paid', waiting_for = null,
         amount_refunded = excluded.amount_refunded, updated_at = now()
     ), counted as (
       insert into order_payments (source, payment_id, order_id, amount, counted_at, counted_by, outcome)
       values ($8, $9, $1, $3, $10, $11, 'marked_paid')
     )
     insert into state_transitions (machine, object_id, from_status, to_status, cause, detail, order_id, source, payment_id)
     select machine, object_id, null, to_status, $11, 'imported', $1, $8, $9
     from (values ('order', $1, 'paid', true), ('payment', $8 || ':' || $9, 'captured', $12::boolean),
                  ('refund', $13::text, 'succeeded', $4::bigint > 0)) as t (machine, object_id, to_status, happened)
     where happened`,
    [
      ...[id, currency, amount, amountRefunded, customer.id, customer.email, customer.name, source, paymentId],
      ...[paidAt.toISOString(), cause, known === null, importedRefundId(source, paymentId)],
    ],
  );
  // Money that waited for a person stands unallocated already.
  const held = known?.outcome === 'held_for_review';
  const key = capturedPostingKey(source, paymentId);
  const about = { orderId: id, source, paymentId };
  const debit = held ? UNALLOCATED : gatewayAccount(source);
  const transfers = [{ debit, credit: OPENING_BALANCES, amount }];
  await postToLedger(tx, { key: held ? `allocated:${key}` : key, currency, transfers }, about);
  if (amountRefunded > 0n) await writeRefunded(tx, order);
}

/** What had gone back is one refund, whatever it was then; the gateway's own are told apart when they are first seen. */
async function writeRefunded(
  tx: Tx,
  { id, currency, source, paymentId, amountRefunded }: OrderToImport,
): Promise<void> {
  const refundId = importedRefundId(source, paymentId);
  await tx.query(
    `insert into refunds (id, source, payment_id, order_id, kind, status, amount, currency, reason)
     values ($1, $2, $3, $4, 'gateway', 'succeeded', $5, $6, 'refunded before it was imported')`,
    [refundId, source, paymentId, id, amountRefunded, currency],
  );
  const transfers = [{ debit: OPENING_BALANCES, credit: gatewayAccount(source), amount: amountRefunded }];
  await postToLedger(
    tx,
    { key: refundedPostingKey(refundId), currency, transfers },
    { orderId: id, source, paymentId, refundId },
  );
}
