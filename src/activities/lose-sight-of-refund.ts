import { giveUpRefund } from '../database/give-up-refund.ts';
import { readRefund } from '../database/read-refund.ts';
import type { Dependencies } from './dependencies.ts';
import { refundProgress, type RefundProgress } from './refund-progress.ts';

/** The retries are used up and nobody knows whether the refund happened: a human is told, and the machine goes on looking (F3, F5). */
export function createLoseSightOfRefund(deps: Dependencies) {
  return async function loseSightOfRefund(refundId: string, message: string): Promise<RefundProgress> {
    const refund = await readRefund(deps.pool, refundId);
    if (refund === null) throw new Error(`There is no refund ${refundId}.`);
    await giveUpRefund(deps.pool, refund, 'unknown', { code: null, message });
    if (refund.status === 'pending') deps.metrics.deadLetters.inc({ kind: 'outcome_unknown' });
    return refundProgress((await readRefund(deps.pool, refundId)) ?? refund);
  };
}
