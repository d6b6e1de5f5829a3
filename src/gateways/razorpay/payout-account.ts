import type { RazorpayAccount } from './razorpay-account.ts';

/** The bank account that payouts are paid from. Throws a rejected `not_supported` where none is configured. */
export function payoutAccount({ source, accountNumber, refuse }: RazorpayAccount): string {
  if (accountNumber !== null) return accountNumber;
  throw refuse(`${source} pays out of an account, and its configuration names no account_number.`, 'not_supported');
}
