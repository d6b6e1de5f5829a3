import type { PaymentFacts } from '../../domain/gateway-facts.ts';
import { findByReference } from './find-by-reference.ts';
import { isStripeId } from './ids.ts';
import { offSessionFacts } from './off-session-facts.ts';
import type { StripeAccount } from './stripe-account.ts';

/** What we charged under the reference, declined attempts among them: by the customer's PaymentIntents. Throws `temporary`. */
export async function findCharges(
  { api }: StripeAccount,
  reference: string,
  customerId: string,
  since: Date,
): Promise<PaymentFacts[]> {
  // No such customer can be charged either.
  if (!isStripeId(customerId)) return [];
  const lookUp = { what: `look for the charge ${reference}`, reference, since, toFacts: offSessionFacts };
  let refusedAs: string | undefined;
  const ofCustomer = await findByReference(api, {
    ...lookUp,
    ask: (page) => api.sdk.paymentIntents.list({ customer: customerId, ...page }),
    isAbsent: ({ statusCode, code }) => {
      refusedAs = code;
      return statusCode === 400;
    },
  });
  if (ofCustomer !== null) return ofCustomer;
  // Stripe has no such customer, so nobody was charged, and a charge would be refused for the same reason.
  if (refusedAs === 'resource_missing') return [];
  // An API that cannot narrow the list shows all of it.
  return (await findByReference(api, { ...lookUp, ask: (page) => api.sdk.paymentIntents.list(page) })) ?? [];
}
