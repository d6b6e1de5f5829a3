import { deadLetterId, refundWorkflowId } from '../domain/keys.ts';
import { openDeadLetter } from './open-dead-letter.ts';
import type { Tx } from './pool.ts';
import type { WaitingEvent } from './read-payment-work.ts';
import { REFUND_RETURNED } from './settle-refund.ts';

/**
 * Somebody refunded at the gateway, and an event says that it had succeeded, but it failed before we looked: the bank sent the
 * money back, and a person is asked just as if we had seen it succeed (B3).
 *
 * @param events covered by the look that has just been applied
 */
export async function askAboutReturnedRefunds(
  tx: Tx,
  { source, paymentId }: { readonly source: string; readonly paymentId: string },
  events: readonly WaitingEvent[],
): Promise<void> {
  const said = events.filter((event) => event.subject === 'refund' && event.claimed === 'succeeded');
  if (said.length === 0) return;
  const { rows } = await tx.query<{ id: string; order_id: string | null; amount: bigint; currency: string }>(
    // One that was asked about before was decided, or still waits: an old event is no new trouble.
    `select r.id, r.order_id, r.amount, r.currency from refunds r
     where r.source = $1 and r.payment_id = $2 and r.kind = 'gateway' and r.status = 'failed' and r.gateway_refund_id = any($3)
       -- at Stripe an authorization that was given up looks like a refund, and no money had moved
       and r.failure_code is distinct from 'never_captured'
       and not exists (select from dead_letters d where d.refund_id = r.id and d.kind = 'refund_failed')
     order by r.id`,
    [source, paymentId, said.map((event) => event.objectId)],
  );
  for (const { id, order_id: orderId, amount, currency } of rows) {
    await openDeadLetter(tx, {
      ...{ id: deadLetterId('refund_failed', id), kind: 'refund_failed', source, orderId, paymentId, refundId: id },
      ...{ amount, currency, lastError: REFUND_RETURNED, workflowId: refundWorkflowId(id) },
    });
  }
}
