import { createHash } from 'node:crypto';

/** Razorpay's limit for a receipt. */
const LONGEST_RECEIPT = 40;

/** Our idempotency key in the alphabet and length that Razorpay takes: 10 or more of A-Z, a-z, 0-9, `-` and `_`. */
export function refundIdempotencyKey(key: string): string {
  return /^[A-Za-z0-9_-]{10,64}$/.test(key) ? key : digest(key).slice(0, 32);
}

/** Our reference where it fits the receipt, else one derived from it; a look-up goes by the note and never by this. */
export function refundReceipt(reference: string): string {
  return reference.length <= LONGEST_RECEIPT ? reference : digest(reference).slice(0, LONGEST_RECEIPT);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
