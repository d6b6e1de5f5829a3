import type { PayoutFacts } from '../../domain/gateway-facts.ts';
import { isJsonObject } from '../event-body.ts';
import { payoutAccount } from './payout-account.ts';
import { payoutFacts } from './payout-facts.ts';
import { payoutReferenceId } from './payout-keys.ts';
import type { RazorpayAccount } from './razorpay-account.ts';
import { PAGE } from './razorpay-api.ts';

/**
 * The account's payouts under our reference, all pages. The `reference_id` decides, and not the note: what a person sent again
 * under it from the dashboard has paid the same seller for the same day. Throws `temporary`, or a rejected `not_supported`.
 */
export async function findPayouts(account: RazorpayAccount, reference: string): Promise<PayoutFacts[]> {
  const { api, misread } = account;
  const referenceId = payoutReferenceId(reference);
  const query = new URLSearchParams({
    account_number: payoutAccount(account),
    reference_id: referenceId,
    count: String(PAGE),
  });
  const misunderstood = () => misread(`the payouts under ${reference}`, 'temporary');
  const seen = new Set<unknown>();
  const found: PayoutFacts[] = [];
  for (let skip = 0; ;) {
    const answer = await api.get(`/v1/payouts?${query.toString()}&skip=${skip}`);
    const items = isJsonObject(answer) ? answer['items'] : undefined;
    if (!Array.isArray(items) || !items.every(isJsonObject)) throw misunderstood();
    // A short page may be the gateway's own limit; only an empty one is the end.
    if (items.length === 0) return found;
    const fresh = items.filter((item) => !seen.has(item['id']));
    // The same page again: the rest of the list cannot be had, and absent would be a guess.
    if (fresh.length === 0) throw misunderstood();
    for (const item of fresh) {
      seen.add(item['id']);
      if (item['reference_id'] !== referenceId) continue;
      const payout = payoutFacts(item);
      if (payout === null) throw misunderstood();
      found.push({ ...payout, reference });
    }
    skip += items.length;
  }
}
