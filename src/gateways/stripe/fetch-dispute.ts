import type { DisputeFacts } from '../../domain/gateway-facts.ts';
import { isJsonObject, type JsonObject } from '../event-body.ts';
import { readCurrency, readId, readTime } from '../fields.ts';
import { toIsoAmount } from '../minor-units.ts';
import { STRIPE_CURRENCIES } from './currencies.ts';
import { idOf, paymentOf, readDisputeState, withholdsMoney } from './event-kinds.ts';
import { isoAmount } from './facts.ts';
import { isStripeId } from './ids.ts';
import type { StripeApi } from './stripe-api.ts';

/** The dispute as it is now; null where Stripe does not know it. Throws `temporary`. */
export async function fetchDispute(api: StripeApi, disputeId: string): Promise<DisputeFacts | null> {
  if (!isStripeId(disputeId)) return null;
  const what = `show the dispute ${disputeId}`;
  const answer = await api.read(what, () => api.sdk.disputes.retrieve(disputeId));
  if (answer === null) return null;
  const facts = disputeFacts(answer);
  if (facts?.disputeId !== disputeId) throw api.misread(what, 'temporary');
  return facts;
}

/** A dispute as facts; null for an answer that is none. */
function disputeFacts(dispute: unknown): DisputeFacts | null {
  if (!isJsonObject(dispute) || dispute['object'] !== 'dispute') return null;
  const disputeId = readId(dispute['id']);
  const paymentId = readId(paymentOf(dispute, idOf(dispute['charge'])));
  const status = readDisputeState(dispute['status']);
  if (typeof disputeId !== 'string' || typeof paymentId !== 'string' || status === null) return null;
  const charged = readFees(dispute['balance_transactions']);
  if (charged === undefined) return null;
  const currency = readCurrency(dispute['currency']);
  return {
    ...{ disputeId, paymentId, status, currency: currency ?? null },
    amount: isoAmount(dispute['amount'], currency),
    withheld: withholdsMoney(dispute['status']),
    fee: charged?.fee ?? null,
    feeCurrency: charged?.currency ?? null,
    openedAt: readTime(dispute['created']) ?? null,
  };
}

/**
 * What the movements of the account's balance for this dispute have cost, in the account's own currency: a fee for receiving
 * it, another for contesting it, and what came back of them.
 *
 * @returns null where nothing has moved yet; undefined where it cannot be had exactly
 */
function readFees(movements: unknown): { fee: bigint; currency: string } | null | undefined {
  if (!Array.isArray(movements) || movements.length === 0) return null;
  let sum = 0n;
  const currencies = new Set<string>();
  for (const movement of movements as unknown[]) {
    const fee = isJsonObject(movement) ? movement['fee'] : undefined;
    const currency = readCurrency((movement as JsonObject | null)?.['currency']);
    // Negative where a fee comes back.
    if (typeof fee !== 'number' || !Number.isSafeInteger(fee) || typeof currency !== 'string') return undefined;
    sum += BigInt(fee);
    currencies.add(currency);
  }
  const [currency, ...others] = currencies;
  if (currency === undefined || others.length > 0 || sum < 0n) return undefined;
  const fee = toIsoAmount(sum, currency, STRIPE_CURRENCIES);
  return fee === null ? undefined : { fee, currency };
}
