import type { Payout } from '../database/read-payout.ts';
import type { PayoutFacts } from '../domain/gateway-facts.ts';
import type { Gateway } from '../gateways/gateway.ts';
import { pickCounting } from './pick-counting.ts';

/** The gateway's payout under our reference; null where it has none. */
export async function findPayout(gateway: Gateway, payout: Payout): Promise<PayoutFacts | null> {
  const found = await gateway.findPayouts(payout.reference, payout.createdAt);
  return pickCounting(found, ({ payoutId }) => payout.supersededGatewayIds.includes(payoutId));
}
