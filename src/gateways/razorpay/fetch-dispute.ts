import type { DisputeFacts } from '../../domain/gateway-facts.ts';
import { isJsonObject } from '../event-body.ts';
import { readCurrency, readId, readTime } from '../fields.ts';
import { readDisputeState } from './event-kinds.ts';
import { isoAmount } from './facts.ts';
import type { RazorpayAccount } from './razorpay-account.ts';

/** The dispute as it is now; null where Razorpay does not know it. Throws `temporary` alone. */
export async function fetchDispute({ api, misread }: RazorpayAccount, disputeId: string): Promise<DisputeFacts | null> {
  // Nothing else can be an id of Razorpay's, and nothing else is put into a path.
  if (!/^[A-Za-z0-9_]{1,200}$/.test(disputeId)) return null;
  const answer = await api.get(`/v1/disputes/${disputeId}`);
  if (answer === null) return null;
  const dispute = disputeFacts(answer);
  if (dispute?.disputeId !== disputeId) throw misread(`the dispute ${disputeId}`, 'temporary');
  return dispute;
}

/** A dispute entity as facts; null for an answer that is none. What Razorpay charges for it stands in its invoices alone. */
function disputeFacts(dispute: unknown): DisputeFacts | null {
  if (!isJsonObject(dispute) || dispute['entity'] !== 'dispute') return null;
  const disputeId = readId(dispute['id']);
  const paymentId = readId(dispute['payment_id']);
  const status = readDisputeState(dispute['status']);
  if (typeof disputeId !== 'string' || typeof paymentId !== 'string' || status === null) return null;
  const currency = readCurrency(dispute['currency']);
  return {
    ...{ disputeId, paymentId, status, currency: currency ?? null, fee: null, feeCurrency: null },
    amount: isoAmount(dispute['amount'], currency),
    // By default Razorpay takes the money only when the dispute is lost.
    withheld: dispute['amount_deducted'] !== 0,
    openedAt: readTime(dispute['created_at']) ?? null,
  };
}
