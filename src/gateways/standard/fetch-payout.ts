import type { PayoutFacts } from '../../domain/gateway-facts.ts';
import { payoutAnswer } from './answers.ts';
import { objectPath } from './paths.ts';
import type { StandardApi } from './standard-api.ts';

/** The payout as it is now; null where the gateway does not know it. Throws `temporary` alone. */
export async function fetchPayout(api: StandardApi, payoutId: string): Promise<PayoutFacts | null> {
  const path = objectPath('/payouts', payoutId);
  if (path === null) return null;
  const payout = await api.read(path, payoutAnswer);
  if (payout !== null && payout.payoutId !== payoutId) throw api.odd(path, 'temporary');
  return payout;
}
