import type { PayoutFacts } from '../../domain/gateway-facts.ts';
import { findByReference } from './find-by-reference.ts';
import { payoutFacts, transferFacts } from './payout-facts.ts';
import type { StripeAccount } from './stripe-account.ts';

/** Our payouts and transfers under the reference; where the money went, the reference does not say. Throws `temporary`. */
export async function findPayouts({ api }: StripeAccount, reference: string, since: Date): Promise<PayoutFacts[]> {
  const what = `look for the payout ${reference}`;
  const payouts = await findByReference(api, {
    ...{ what, reference, since },
    toFacts: payoutFacts,
    ask: (page) => api.sdk.payouts.list(page),
  });
  const transfers = await findByReference(api, {
    ...{ what, reference, since },
    toFacts: transferFacts,
    ask: (page) => api.sdk.transfers.list({ transfer_group: reference, ...page }),
    // The payouts have just been listed, so this is Stripe or stands in for it; one without transfers can have made none.
    isAbsent: ({ statusCode }) => statusCode === 404,
  });
  return [...(payouts ?? []), ...(transfers ?? [])];
}
