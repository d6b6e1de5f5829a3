import { z } from 'zod';
import type { PayoutFacts } from '../../domain/gateway-facts.ts';
import { isJsonObject } from '../event-body.ts';
import type { PayoutOrder } from '../gateway.ts';
import { payoutAnswer } from './answers.ts';
import type { StandardApi } from './standard-api.ts';

/** Pays a seller out. Throws as `Gateway` says. */
export async function createPayout(api: StandardApi, order: PayoutOrder): Promise<PayoutFacts> {
  const { sellerId, currency, destination, reference } = order;
  const asked = { amount: api.jsonAmount(order.amount), currency, reference };
  // What we said ourselves the answer may leave out, and only that.
  const answer = z.preprocess((said) => (isJsonObject(said) ? { ...asked, ...said } : said), payoutAnswer);
  const body = { seller_id: sellerId, destination, ...asked };
  const payout = await api.write('/payouts', body, order.idempotencyKey, answer);
  if ((payout.reference ?? reference) !== reference) throw api.odd('/payouts', 'unknown');
  return payout;
}
