import type { PayoutFacts } from '../../domain/gateway-facts.ts';
import { formatMoney } from '../../domain/money.ts';
import { isJsonObject } from '../event-body.ts';
import type { PayoutOrder } from '../gateway.ts';
import { payoutAccount } from './payout-account.ts';
import { payoutFacts } from './payout-facts.ts';
import { payoutIdempotencyKey, payoutReferenceId } from './payout-keys.ts';
import { payoutMode } from './payout-mode.ts';
import type { RazorpayAccount } from './razorpay-account.ts';

/** Pays out to a fund account (`fa_…`), a bank account or a UPI address. Throws as `Gateway` says. */
export async function createPayout(account: RazorpayAccount, order: PayoutOrder): Promise<PayoutFacts> {
  const { source, api, refuse, misread } = account;
  const { amount, currency, destination, reference } = order;
  const accountNumber = payoutAccount(account);
  if (currency !== 'INR') {
    const money = formatMoney({ amount, currency });
    throw refuse(`${source} pays out rupees alone, so ${money} was not sent.`, 'not_supported');
  }
  const literal = account.literalAmount(amount, currency);
  const mode = payoutMode(await accountTypeOf(account, destination), amount);
  if (mode === null) {
    throw refuse(`${source} pays out to bank accounts and UPI addresses, so nothing was sent.`, 'not_supported');
  }
  const body = {
    account_number: accountNumber,
    fund_account_id: destination,
    amount: Number(literal),
    currency,
    mode,
    purpose: 'payout',
    // Too little balance is an answer for a person; a payout that waits for money would go out at some later day.
    queue_if_low_balance: false,
    reference_id: payoutReferenceId(reference),
    notes: { paidonce_reference: reference },
  };
  const headers = { 'x-payout-idempotency': payoutIdempotencyKey(order.idempotencyKey) };
  const payout = payoutFacts(await api.post('/v1/payouts', body, headers));
  if (payout === null) throw misread(`the payout ${reference}`, 'unknown');
  return payout;
}

/** What kind of account the money goes to: Razorpay wants to be told the network that fits it. */
async function accountTypeOf({ source, api, refuse }: RazorpayAccount, destination: string): Promise<unknown> {
  const known = /^fa_[A-Za-z0-9]{1,100}$/.test(destination) ? await api.get(`/v1/fund_accounts/${destination}`) : null;
  if (known !== null) return isJsonObject(known) ? known['account_type'] : undefined;
  // Not repeated in the message: it may be the number of a bank account.
  throw refuse(`${source} has no fund account with the id that was given, so nothing was sent.`, 'unknown_destination');
}
