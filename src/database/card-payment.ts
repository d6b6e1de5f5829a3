import { noteAnswered } from './gateway-call.ts';
import { lockPayment } from './lock-payment.ts';
import type { MoneyStatus } from './money-move.ts';
import { inTransaction, type Db, type Pool } from './pool.ts';
import { savePayment } from './save-payment.ts';

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
}

export async function readCardPayment(db: Db, kind: CardPaymentKind, id: string): Promise<CardPayment | null> {
  const { rows } = await db.query<CardPayment>(
    `select id, source, ${kind === 'charge' ? 'order_id' : 'null::text'} as "orderId", customer_id as "customerId",
            payment_method as "paymentMethod", amount, currency, status, reference, payment_id as "paymentId"
     from ${kind === 'charge' ? 'charges' : 'top_ups'} where id = $1`,
    [id],
  );
  return rows[0] ?? null;
}

/**
 * The gateway has made the payment: from now on it is known under its own id, and what it came to is applied by its own
 * workflow, as for every payment.
 */
export async function recordPlacedCardPayment(
  pool: Pool,
  kind: CardPaymentKind,
  card: CardPayment,
  paymentId: string,
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    const known = await lockPayment(tx, card.source, paymentId);
    await tx.query(
      `update ${kind === 'charge' ? 'charges' : 'top_ups'} set payment_id = coalesce(payment_id, $2), updated_at = now() where id = $1`,
      [card.id, paymentId],
    );
    await noteAnswered(tx, card.reference);
    if (known !== null) return;
    await savePayment(tx, {
      ...{ source: card.source, paymentId, known, orderId: card.orderId, reference: card.reference },
      ...{ status: 'pending', amount: card.amount, currency: card.currency, outcome: 'pending', keepOutcome: false },
      ...{ waitingFor: null, purpose: kind === 'charge' ? 'order' : 'top_up', cause: card.reference },
    });
  });
}
