import type { PayoutFacts } from '../../domain/gateway-facts.ts';
import { payoutsAnswer } from './answers.ts';
import { queryPath } from './paths.ts';
import type { StandardApi } from './standard-api.ts';

/** Our payouts under the reference. Throws `temporary` alone. */
export async function findPayouts(api: StandardApi, reference: string): Promise<PayoutFacts[]> {
  const payouts = await api.readList(queryPath('/payouts', { reference }), payoutsAnswer);
  // A gateway that does not know the filter answers with everybody's.
  return payouts.filter((payout) => payout.reference === reference);
}
