import { noteAnswered } from './gateway-call.ts';
import { lockOrder } from './lock-order.ts';
import { lockPayment } from './lock-payment.ts';
import type { MoneyStatus } from './money-move.ts';
import { inTransaction, type Db, type Pool, type Tx } from './pool.ts';
import { savePayment } from './save-payment.ts';
import { updateUnpaidOrder } from './update-unpaid-order.ts';

/** A saved card is charged for an order, or for a wallet's top-up. */
export type CardPaymentKind = 'charge' | 'top_up';

export interface CardPayment {
  readonly id: string;
  readonly source: string;
  /** Null for a top-up. */
  readonly orderId: string | null;
  readonly customerId: string;
  readonly paymentMethod: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly status: MoneyStatus;
  readonly reference: string;
  readonly paymentId: string | null;
  readonly createdAt: Date;
}

export async function readCardPayment(db: Db, kind: CardPaymentKind, id: string): Promise<CardPayment | null> {
  const { rows } = await db.query<CardPayment>(
    `select id, source, ${kind === 'charge' ? 'order_id' : 'null::text'} as "orderId", customer_id as "customerId",
            payment_method as "paymentMethod", amount, currency, status, reference, payment_id as "paymentId", created_at as "createdAt"
     from ${kind === 'charge' ? 'charges' : 'top_ups'} where id = $1`,
    [id],
  );
  return rows[0] ?? null;
}

/**
 * The gateway has made the payment: from now on it is known under its own id, its order is under way, and what it came to is
 * applied by its own workflow, as for every payment. A webhook may have been faster, and need not have named our reference: it
 * is written to the payment, so that the next look, which follows, finds what the money is for.
 */
export async function recordPlacedCardPayment(
  pool: Pool,
  kind: CardPaymentKind,
  card: CardPayment,
  paymentId: string,
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await placeCardPayment(tx, kind, card, paymentId);
  });
}

/** The same as a part of another transaction, which holds neither order nor payment yet, or both. */
export async function placeCardPayment(
  tx: Tx,
  kind: CardPaymentKind,
  card: CardPayment,
  paymentId: string,
): Promise<void> {
  const order = card.orderId === null ? null : await lockOrder(tx, card.orderId);
  const { source, orderId, reference, amount, currency } = card;
  const known = await lockPayment(tx, source, paymentId);
  const purpose = kind === 'charge' ? 'order' : 'top_up';
  await tx.query(
    `update ${kind === 'charge' ? 'charges' : 'top_ups'} set payment_id = coalesce(payment_id, $2), updated_at = now() where id = $1`,
    [card.id, paymentId],
  );
  await noteAnswered(tx, reference);
  if (known !== null) {
    await tx.query(
      `update payments set reference = $3, order_id = coalesce(order_id, $4), purpose = $5, updated_at = now()
       where source = $1 and payment_id = $2 and reference is null`,
      [source, paymentId, reference, orderId, purpose],
    );
    return;
  }
  await savePayment(tx, {
    ...{ source, paymentId, known, orderId, reference, amount, currency, cause: reference },
    ...{ status: 'pending', outcome: 'pending', keepOutcome: false, waitingFor: null, purpose },
  });
  if (order !== null) await updateUnpaidOrder(tx, { order, source, paymentId, cause: reference });
}
