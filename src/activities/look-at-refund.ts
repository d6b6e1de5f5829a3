import { readRefund } from '../database/read-refund.ts';
import { recordRefunds } from '../database/record-refunds.ts';
import { refundWorkflowId } from '../domain/keys.ts';
import type { Dependencies } from './dependencies.ts';
import { readProgress, type MoneyProgress } from './money-progress.ts';
import { sourceOf } from './source-of.ts';

/** Asks the gateway what became of a refund that it has; for the webhook that does not come. */
export function createLookAtRefund(deps: Dependencies) {
  return async function lookAtRefund(refundId: string): Promise<MoneyProgress> {
    const refund = await readRefund(deps.pool, refundId);
    if (refund === null) throw new Error(`There is no refund ${refundId}.`);
    if (refund.gatewayRefundId === null) return readProgress(deps.pool, 'refund', refundId);
    const { gateway } = sourceOf(deps, refund.source);
    const facts = await gateway.listRefunds(refund.paymentId);
    const { source, paymentId, orderId } = refund;
    const cause = refundWorkflowId(refundId);
    await recordRefunds(deps.pool, {
      source,
      paymentId,
      orderId,
      facts,
      cause,
      policies: deps.policies,
      answered: null,
    });
    deps.wakeRelay();
    return readProgress(deps.pool, 'refund', refundId);
  };
}
