/** Two lakh rupees in paise: what every bank takes by IMPS. Some take more, and NEFT takes any amount. */
const LARGEST_IMPS = 20_000_000n;

/**
 * By which network money goes to a fund account of this type; null for a type that is not paid out to. The same for the
 * same payout every time, since a repeated request must be the same to the letter.
 */
export function payoutMode(accountType: unknown, paise: bigint): 'IMPS' | 'NEFT' | 'UPI' | null {
  switch (accountType) {
    case 'bank_account':
      // Within minutes at any hour, where NEFT waits for the next half-hourly batch.
      return paise <= LARGEST_IMPS ? 'IMPS' : 'NEFT';
    case 'vpa':
      return 'UPI';
    default:
      return null;
  }
}
