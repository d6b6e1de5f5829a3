import type { PayoutFacts } from '../../domain/gateway-facts.ts';
import { isJsonObject, objectIn, type JsonObject } from '../event-body.ts';
import { readCurrency, readId, readReference } from '../fields.ts';
import { isoAmount } from './facts.ts';

const PAYOUT_STATES: ReadonlyMap<unknown, PayoutFacts['status']> = new Map<unknown, PayoutFacts['status']>([
  ['pending', 'pending'],
  ['in_transit', 'pending'],
  ['paid', 'paid'],
  ['failed', 'failed'],
  ['canceled', 'failed'],
]);

/** A payout as facts; null for an answer that is none, or whose amount we cannot express exactly. */
export function payoutFacts(payout: unknown): PayoutFacts | null {
  if (!isJsonObject(payout) || payout['object'] !== 'payout') return null;
  const failure = payout['failure_code'];
  return facts(
    payout,
    PAYOUT_STATES.get(payout['status']),
    typeof failure === 'string' && failure !== '' ? failure.slice(0, 200) : null,
  );
}

/** A transfer to a connected account as facts: it is there at once, or taken back as a whole. */
export function transferFacts(transfer: unknown): PayoutFacts | null {
  if (!isJsonObject(transfer) || transfer['object'] !== 'transfer') return null;
  const reversed = transfer['reversed'];
  if (typeof reversed !== 'boolean') return null;
  return reversed ? facts(transfer, 'failed', 'reversed') : facts(transfer, 'paid', null);
}

function facts(
  object: JsonObject,
  status: PayoutFacts['status'] | undefined,
  failureCode: string | null,
): PayoutFacts | null {
  const payoutId = readId(object['id']);
  const currency = readCurrency(object['currency']);
  const amount = isoAmount(object['amount'], currency);
  if (typeof payoutId !== 'string' || typeof currency !== 'string' || amount === null || status === undefined)
    return null;
  const reference = readReference(objectIn(object, 'metadata')['paidonce_reference']);
  return { payoutId, amount, currency, status, reference, failureCode };
}
