import type { Pool } from 'pg';
import { deadLetterId, refundWorkflowId } from '../domain/keys.ts';
import { refundMayBecome } from '../domain/refund-states.ts';
import { announce } from './announce.ts';
import { noteAnswered } from './gateway-call.ts';
import { openDeadLetter } from './open-dead-letter.ts';
import { inTransaction } from './pool.ts';
import type { Refund } from './read-refund.ts';
import { recordTransition } from './record-transition.ts';

/**
 * What ended the machine's own tries:
 * - `rejected`: a definite no; a human decides (F3).
 * - `unknown`: nobody knows whether it happened, or the gateway cannot be read; a human decides while the machine goes on looking (F3).
 * - `already_refunded`: other refunds took everything; nothing is left to do (E6).
 */
export type RefundEnd = 'rejected' | 'unknown' | 'already_refunded';

const STATUS = { rejected: 'needs_review', unknown: 'unknown', already_refunded: 'failed' } as const;

/** Writes the end of the machine's tries, with the dead letter where a human is needed, in one transaction. */
export async function giveUpRefund(
  pool: Pool,
  refund: Refund,
  end: RefundEnd,
  details: { readonly code: string | null; readonly message: string },
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<{ status: Refund['status'] }>(
      'select status from refunds where id = $1 for update',
      [refund.id],
    );
    const from = rows[0]?.status;
    const to = STATUS[end];
    if (from === undefined || (from !== to && !refundMayBecome(from, to))) return;
    await tx.query(
      `update refunds set status = $2, failure_code = $3, last_error = $4, updated_at = now() where id = $1`,
      [refund.id, to, end === 'unknown' ? null : details.code, details.message],
    );
    if (end !== 'unknown' && refund.reference !== null) await noteAnswered(tx, refund.reference);
    if (from !== to) {
      await recordTransition(tx, {
        machine: 'refund',
        objectId: refund.id,
        from,
        to,
        cause: refundWorkflowId(refund.id),
        detail: details.message,
        ...{ orderId: refund.orderId, source: refund.source, paymentId: refund.paymentId },
      });
    }
    if (end === 'already_refunded') return;
    const kind = end === 'unknown' ? 'outcome_unknown' : 'refund_failed';
    await openDeadLetter(tx, {
      id: deadLetterId(kind, refund.id),
      kind,
      source: refund.source,
      orderId: refund.orderId,
      paymentId: refund.paymentId,
      refundId: refund.id,
      amount: refund.amount,
      currency: refund.currency,
      lastError: details.message,
      workflowId: refundWorkflowId(refund.id),
      extraCapture: refund.kind === 'extra_capture',
    });
    if (from !== to && end === 'rejected') {
      await announce(tx, refund.orderId, [
        {
          eventType: 'refund.failed',
          payload: {
            order_id: refund.orderId,
            source: refund.source,
            payment_id: refund.paymentId,
            refund_id: refund.id,
            amount: refund.amount.toString(),
            currency: refund.currency,
          },
        },
      ]);
    }
  });
}
