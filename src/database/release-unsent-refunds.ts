import { decisionAbout } from '../domain/by-person.ts';
import { refundWorkflowId } from '../domain/keys.ts';
import { announce } from './announce.ts';
import type { DecidedRow } from './decide-dead-letter.ts';
import type { Tx } from './pool.ts';
import { recordTransition } from './record-transition.ts';

/**
 * Ends the reservations that were stopped because others had refunded too much: nothing was ever sent for them, and nothing can be, so
 * that a person who has seen it frees what they hold (E6). One that has a dead letter of its own waits for that.
 */
export async function releaseUnsentRefunds(tx: Tx, { source, paymentId }: DecidedRow): Promise<void> {
  const { rows } = await tx.query<{ id: string; order_id: string | null; amount: bigint; currency: string }>(
    `update refunds r set status = 'failed', failure_code = 'refund_exceeds_captured', last_error = null, updated_at = now()
     where r.source = $1 and r.payment_id = $2 and r.kind = 'requested' and r.status = 'needs_review' and r.gateway_refund_id is null
       and not exists (select from gateway_calls c where c.reference = r.reference and c.unanswered_since is not null)
       and not exists (select from dead_letters d where d.refund_id = r.id and d.status in ('open', 'decided'))
     returning r.id, r.order_id, r.amount, r.currency`,
    [source, paymentId],
  );
  for (const refund of rows) {
    const workflowId = refundWorkflowId(refund.id);
    await recordTransition(tx, {
      ...{ machine: 'refund', objectId: refund.id, from: 'needs_review', to: 'failed' },
      ...{ cause: decisionAbout(workflowId), detail: 'others had refunded what it would have given back' },
      ...{ orderId: refund.order_id, source, paymentId },
    });
    const payload = {
      ...{ order_id: refund.order_id, source, payment_id: paymentId, refund_id: refund.id },
      ...{ amount: refund.amount.toString(), currency: refund.currency },
    };
    await announce(tx, refund.order_id, [
      {
        ...{ eventType: 'refund.failed', payload },
        ...(refund.order_id === null ? { aggregateId: workflowId } : {}),
      },
      { eventType: 'dead_letter.decided', aggregateId: workflowId, payload: { workflow_id: workflowId } },
    ]);
  }
}
