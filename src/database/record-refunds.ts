import type { Pool } from 'pg';
import type { RefundFacts } from '../domain/gateway-facts.ts';
import type { Policies } from '../domain/policies.ts';
import { applyRefunds, type RefundedPayment } from './apply-refunds.ts';
import { noteAnswered } from './gateway-call.ts';
import { lockOrder } from './lock-order.ts';
import { lockPayment, type LockedPayment } from './lock-payment.ts';
import { inTransaction } from './pool.ts';

/** What a gateway answered about refunds of one payment, to our own call or look. */
export interface RefundsToRecord {
  readonly source: string;
  readonly paymentId: string;
  readonly orderId: string | null;
  readonly facts: readonly RefundFacts[];
  readonly cause: string;
  readonly policies: Policies;
  /** The call that is answered by this. */
  readonly answered: string | null;
}

/** Records them in one transaction, by the same rules as the payment's own workflow (E6). */
export async function recordRefunds(pool: Pool, r: RefundsToRecord): Promise<void> {
  await inTransaction(pool, async (tx) => {
    const order = r.orderId === null ? null : await lockOrder(tx, r.orderId);
    const payment = await lockPayment(tx, r.source, r.paymentId);
    if (payment?.status !== 'captured' || payment.amount === null || payment.currency === null) {
      throw new Error(`Payment ${r.source}:${r.paymentId} has a refund, but no capture is known.`);
    }
    await applyRefunds(
      tx,
      {
        source: r.source,
        paymentId: r.paymentId,
        captured: payment.amount,
        currency: payment.currency,
        allocation: allocationOf(payment),
        cause: r.cause,
        pointsPerMajorUnit: r.policies.loyaltyPointsPerMajorUnit,
      },
      order,
      r.facts,
    );
    if (r.answered !== null) await noteAnswered(tx, r.answered);
  });
}

/** Where the captured money of a payment stands in the books. */
export function allocationOf(payment: LockedPayment): RefundedPayment['allocation'] {
  if (payment.credited) return 'wallet';
  if (payment.counted !== null) return 'counted';
  return payment.outcome === 'held_for_review' ? 'unallocated' : 'owed_back';
}
