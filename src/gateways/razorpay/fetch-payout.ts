import type { PayoutFacts } from '../../domain/gateway-facts.ts';
import { payoutFacts } from './payout-facts.ts';
import type { RazorpayAccount } from './razorpay-account.ts';

/** The payout as it is now; null where Razorpay does not know it. Throws `temporary` alone. */
export async function fetchPayout({ api, misread }: RazorpayAccount, payoutId: string): Promise<PayoutFacts | null> {
  // Nothing else can be an id of Razorpay's, and nothing else is put into a path.
  if (!/^[A-Za-z0-9_]{1,200}$/.test(payoutId)) return null;
  const answer = await api.get(`/v1/payouts/${payoutId}`);
  if (answer === null) return null;
  const payout = payoutFacts(answer);
  if (payout?.payoutId !== payoutId) throw misread(`the payout ${payoutId}`, 'temporary');
  return payout;
}
