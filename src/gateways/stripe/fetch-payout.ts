import type { PayoutFacts } from '../../domain/gateway-facts.ts';
import { isStripeId } from './ids.ts';
import { payoutFacts, transferFacts } from './payout-facts.ts';
import type { StripeAccount } from './stripe-account.ts';

/** The payout or transfer as it is now; null where Stripe does not know it. Throws `temporary`. */
export async function fetchPayout({ api }: StripeAccount, payoutId: string): Promise<PayoutFacts | null> {
  if (!isStripeId(payoutId)) return null;
  const what = `show the payout ${payoutId}`;
  const isTransfer = payoutId.startsWith('tr_');
  const answer = isTransfer
    ? await api.read(what, () => api.sdk.transfers.retrieve(payoutId))
    : await api.read(what, () => api.sdk.payouts.retrieve(payoutId));
  if (answer === null) return null;
  const facts = isTransfer ? transferFacts(answer) : payoutFacts(answer);
  if (facts?.payoutId !== payoutId) throw api.misread(what, 'temporary');
  return facts;
}
