import type { PayoutFacts } from '../../domain/gateway-facts.ts';
import { isJsonObject, objectIn, type JsonObject } from '../event-body.ts';
import { readCurrency, readId, readReference } from '../fields.ts';
import { noteOf, readPayoutState } from './event-kinds.ts';
import { isoAmount } from './facts.ts';

/** A payout entity as facts; null for an answer that is none, or whose amount we cannot express exactly. */
export function payoutFacts(payout: unknown): PayoutFacts | null {
  if (!isJsonObject(payout) || payout['entity'] !== 'payout') return null;
  const payoutId = readId(payout['id']);
  const status = readPayoutState(payout['status']);
  const currency = readCurrency(payout['currency']);
  const amount = isoAmount(payout['amount'], currency);
  if (typeof payoutId !== 'string' || status === null || typeof currency !== 'string' || amount === null) return null;
  const reference = readReference(noteOf(payout, 'paidonce_reference'));
  return { payoutId, amount, currency, status, reference, failureCode: status === 'failed' ? failureOf(payout) : null };
}

/** A code in newer answers, a sentence in older ones; without either the state itself (`reversed`, `rejected`, …). */
function failureOf(payout: JsonObject): string | null {
  const said = [objectIn(payout, 'status_details')['reason'], payout['failure_reason'], payout['status']];
  return said.find((text): text is string => typeof text === 'string' && text !== '')?.slice(0, 200) ?? null;
}
