import type { RefundFacts } from '../../domain/gateway-facts.ts';
import { objectIn, type JsonObject } from '../event-body.ts';
import { readAmount } from '../fields.ts';
import { idOf } from './event-kinds.ts';
import { refundFacts } from './facts.ts';
import { isStripeId, refundParent } from './ids.ts';
import type { StripeApi } from './stripe-api.ts';

interface Listed {
  readonly facts: RefundFacts;
  /** The part of an authorization that was not captured may look like this. */
  readonly suspect: { readonly balanceTransaction: string } | null;
}

/**
 * Every refund of the payment, all pages; empty where Stripe does not know it. Throws `temporary`.
 *
 * Before its version 2025-03-31 Stripe shows the part of an authorization that was not captured as a refund. It gave
 * nothing back, as that money never came, so it is a failed one here, `never_captured`.
 */
export async function listRefunds(api: StripeApi, paymentId: string): Promise<RefundFacts[]> {
  const listed = await list(api, paymentId, { expand: ['data.charge'] });
  const refunds: RefundFacts[] = [];
  for (const { facts, suspect } of listed) {
    const released = suspect !== null && (await isReversal(api, suspect.balanceTransaction));
    refunds.push(released ? { ...facts, status: 'failed', failureCode: 'never_captured' } : facts);
  }
  return refunds;
}

/** Our refunds of the payment under one reference. */
export async function findRefunds(api: StripeApi, paymentId: string, reference: string): Promise<RefundFacts[]> {
  const listed = await list(api, paymentId, {});
  return listed.map(({ facts }) => facts).filter((refund) => refund.reference === reference);
}

async function list(api: StripeApi, paymentId: string, more: { expand?: string[] }): Promise<Listed[]> {
  if (!isStripeId(paymentId)) return [];
  return api.readAll(
    `list the refunds of ${paymentId}`,
    (page) => api.sdk.refunds.list({ ...refundParent(paymentId), ...more, ...page }),
    (refund) => {
      const facts = refundFacts(refund, paymentId);
      return facts === null ? null : { facts, suspect: suspicionOf(refund as JsonObject, facts) };
    },
  );
}

/** Only a refund of exactly what was not captured, and that nobody here asked for, is worth another question. */
function suspicionOf(refund: JsonObject, { status, reference }: RefundFacts): Listed['suspect'] {
  const charge = objectIn(refund, 'charge');
  const [authorized, captured, amount] = [charge['amount'], charge['amount_captured'], refund['amount']].map(
    readAmount,
  );
  const balanceTransaction = idOf(refund['balance_transaction']);
  if (typeof authorized !== 'bigint' || typeof captured !== 'bigint' || authorized === captured) return null;
  const is = status === 'succeeded' && reference === null && amount === authorized - captured;
  return is && typeof balanceTransaction === 'string' ? { balanceTransaction } : null;
}

/** Stripe's books tell the reversal of an authorization from money that went back. */
async function isReversal(api: StripeApi, balanceTransaction: string): Promise<boolean> {
  const what = `show the balance transaction ${balanceTransaction}`;
  const answer = await api.read(what, () => api.sdk.balanceTransactions.retrieve(balanceTransaction));
  return answer?.reporting_category === 'partial_capture_reversal';
}
