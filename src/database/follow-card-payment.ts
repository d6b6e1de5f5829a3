import { chargeWorkflowId, parseMoneyWorkflowId, topUpWorkflowId } from '../domain/keys.ts';
import type { PaymentStatus } from '../domain/payment-states.ts';
import type { Tx } from './pool.ts';
import { recordTransition } from './record-transition.ts';

/**
 * A charge or a top-up of ours is what its payment is: it follows in the transaction that applies the payment's facts, so
 * that the API's answer and the gateway's webhook meet on one key, whichever is first.
 *
 * @returns the id of the workflow that should look again; null if the payment is of neither kind, or nothing changed
 */
export async function followCardPayment(
  tx: Tx,
  payment: {
    readonly source: string;
    readonly paymentId: string;
    readonly orderId: string | null;
    readonly reference: string | null;
    readonly status: PaymentStatus;
    readonly cause: string;
  },
): Promise<string | null> {
  const { reference, status, source, paymentId } = payment;
  if (reference === null) return null;
  const charge = parseMoneyWorkflowId('charge', reference);
  const topUp = parseMoneyWorkflowId('top_up', reference);
  const id = charge ?? topUp;
  if (id === null) return null;
  const to = status === 'captured' ? 'succeeded' : status === 'failed' || status === 'expired' ? 'failed' : null;
  const { rows } = await tx.query<{ from: string }>(
    `with before as (select id, status from ${charge === null ? 'top_ups' : 'charges'} where id = $1 and source = $2 for update)
     update ${charge === null ? 'top_ups' : 'charges'} c
     set payment_id = coalesce(c.payment_id, $3), status = coalesce($4::text, c.status),
         failure_code = case when $4::text = 'failed' then coalesce(c.failure_code, 'payment_failed') end,
         last_error = null, updated_at = now()
     from before where c.id = before.id
       -- a failed attempt may still be recovered by a later success of the same payment; success is final
       and before.status <> 'succeeded' and (c.payment_id is null or $4::text is not null and $4::text <> before.status)
     returning before.status as "from"`,
    [id, source, paymentId, to],
  );
  const from = rows[0]?.from;
  if (from === undefined) return null;
  if (to !== null && to !== from) {
    await recordTransition(tx, {
      ...{ machine: charge === null ? 'top_up' : 'charge', objectId: id, from, to, cause: payment.cause },
      ...{ orderId: payment.orderId, source, paymentId },
    });
  }
  return charge === null ? topUpWorkflowId(id) : chargeWorkflowId(id);
}
