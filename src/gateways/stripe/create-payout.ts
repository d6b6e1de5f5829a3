import type { PayoutFacts } from '../../domain/gateway-facts.ts';
import { formatMoney } from '../../domain/money.ts';
import type { PayoutOrder } from '../gateway.ts';
import { isPayableStep } from '../minor-units.ts';
import { STRIPE_PAYOUT_CURRENCIES } from './currencies.ts';
import { isStripeId, stripeIdempotencyKey } from './ids.ts';
import { payoutFacts, transferFacts } from './payout-facts.ts';
import type { StripeAccount } from './stripe-account.ts';

/**
 * Pays out to a bank account or a card of the account's own (`ba_…`, `card_…`), or to a connected account (`acct_…`), which
 * Stripe calls a transfer. Throws as `Gateway` says.
 */
export async function createPayout(account: StripeAccount, order: PayoutOrder): Promise<PayoutFacts> {
  const { api, refuse } = account;
  const { amount, currency, destination, reference } = order;
  const toConnected = destination.startsWith('acct_');
  if (!isStripeId(destination) || !(toConnected || /^(ba|card)_/.test(destination))) {
    // Not repeated in the message: it may be the number of a bank account.
    throw refuse('pays out to a bank account, a card or a connected account by its id', 'unknown_destination');
  }
  const literal = account.literalAmount(amount, currency);
  if (!toConnected && !isPayableStep(literal, currency, STRIPE_PAYOUT_CURRENCIES)) {
    throw refuse(
      `does not pay out ${formatMoney({ amount, currency })}, a finer step than it takes`,
      'amount_not_exact',
    );
  }
  const params = {
    amount: Number(literal),
    currency: currency.toLowerCase(),
    destination,
    metadata: { paidonce_reference: reference },
  };
  const options = { idempotencyKey: stripeIdempotencyKey(order.idempotencyKey) };
  const call = { what: `pay out for ${reference}` };
  return toConnected
    ? api.write(call, () => api.sdk.transfers.create({ ...params, transfer_group: reference }, options), transferFacts)
    : api.write(call, () => api.sdk.payouts.create(params, options), payoutFacts);
}
