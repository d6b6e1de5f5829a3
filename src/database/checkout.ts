import type { Pool } from 'pg';
import type { PreparedPayment } from '../domain/gateway-facts.ts';
import { checkoutWorkflowId } from '../domain/keys.ts';
import { noteAnswered } from './gateway-call.ts';
import { lockOrder } from './lock-order.ts';
import { lockPayment } from './lock-payment.ts';
import { inTransaction, type Db } from './pool.ts';
import { recordTransition } from './record-transition.ts';
import { savePayment } from './save-payment.ts';
import { updateUnpaidOrder } from './update-unpaid-order.ts';

export type CheckoutStatus = 'pending' | 'succeeded' | 'failed' | 'unknown' | 'needs_review';

/** A payment that is being prepared for an order. */
export interface Checkout {
  readonly orderId: string;
  readonly n: number;
  readonly source: string;
  readonly status: CheckoutStatus;
  readonly amount: bigint;
  readonly currency: string;
  readonly returnUrl: string | null;
  readonly paymentId: string | null;
  readonly checkoutUrl: string | null;
  readonly clientSecret: string | null;
  readonly failureCode: string | null;
  readonly lastError: string | null;
}

export async function readCheckout(db: Db, orderId: string, n: number): Promise<Checkout | null> {
  const { rows } = await db.query<Checkout>(
    `select order_id as "orderId", n, source, status, amount, currency, return_url as "returnUrl",
            payment_id as "paymentId", checkout_url as "checkoutUrl", client_secret as "clientSecret",
            failure_code as "failureCode", last_error as "lastError"
     from checkouts where order_id = $1 and n = $2`,
    [orderId, n],
  );
  return rows[0] ?? null;
}

/** The gateway has prepared the payment: it is known from now on, and its order is under way. */
export async function recordPreparedPayment(pool: Pool, checkout: Checkout, prepared: PreparedPayment): Promise<void> {
  const { orderId, source, n } = checkout;
  const { payment } = prepared;
  const cause = checkoutWorkflowId(orderId, n);
  await inTransaction(pool, async (tx) => {
    const order = await lockOrder(tx, orderId);
    const known = await lockPayment(tx, source, payment.paymentId);
    const done = await tx.query<{ from: CheckoutStatus }>(
      `with before as (select status from checkouts where order_id = $1 and n = $2 for update)
       update checkouts set status = 'succeeded', payment_id = $3, checkout_url = $4, client_secret = $5,
              last_error = null, failure_code = null, updated_at = now()
       from before where order_id = $1 and n = $2 and before.status <> 'succeeded'
       returning before.status as "from"`,
      [orderId, n, payment.paymentId, prepared.checkoutUrl, prepared.clientSecret],
    );
    await noteAnswered(tx, cause);
    const from = done.rows[0]?.from;
    if (from === undefined) return;
    await recordTransition(tx, {
      ...{ machine: 'checkout', objectId: cause, from, to: 'succeeded', cause },
      ...{ orderId, source, paymentId: payment.paymentId },
    });
    // Its webhook may have been faster: then its workflow has written more than we know here.
    if (known !== null) return;
    await savePayment(tx, {
      ...{ source, paymentId: payment.paymentId, known, orderId, cause },
      ...{ status: 'pending', outcome: 'pending', keepOutcome: false, waitingFor: null },
      amount: payment.amount,
      currency: payment.currency,
      reference: cause,
    });
    if (order !== null) await updateUnpaidOrder(tx, { order, source, paymentId: payment.paymentId, cause });
  });
}

/** The preparation did not come through: rejected for good, or its outcome unknown while the workflow goes on looking. */
export async function recordCheckoutTrouble(
  pool: Pool,
  checkout: Checkout,
  trouble: { readonly status: 'failed' | 'unknown'; readonly code: string; readonly message: string },
): Promise<void> {
  const cause = checkoutWorkflowId(checkout.orderId, checkout.n);
  await inTransaction(pool, async (tx) => {
    const changed = await tx.query<{ from: CheckoutStatus }>(
      `with before as (select status from checkouts where order_id = $1 and n = $2 for update)
       update checkouts set status = $3, failure_code = $4, last_error = $5, updated_at = now()
       from before where order_id = $1 and n = $2 and before.status in ('pending', 'unknown')
       returning before.status as "from"`,
      [checkout.orderId, checkout.n, trouble.status, trouble.code, trouble.message],
    );
    if (trouble.status === 'failed') await noteAnswered(tx, cause);
    const from = changed.rows[0]?.from;
    if (from === undefined || from === trouble.status) return;
    await recordTransition(tx, {
      ...{ machine: 'checkout', objectId: cause, from, to: trouble.status, cause },
      ...{ detail: trouble.message, orderId: checkout.orderId, source: checkout.source },
    });
  });
}
