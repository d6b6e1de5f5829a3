import { createHash } from 'node:crypto';
import { uuidV5 } from './uuid-v5.ts';

/** Ours alone, and never another one: keys derived under two namespaces would be two payouts. */
const NAMESPACE = '9b0c7f3e-5a41-4d0e-8f27-6f1b1f0d2c55';

/** Razorpay's limit for a reference. */
const LONGEST_REFERENCE = 40;

/** Our idempotency key as Razorpay takes it for a payout: 4 to 36 characters, which a readable one does not fit. */
export function payoutIdempotencyKey(key: string): string {
  return uuidV5(NAMESPACE, key);
}

/** Our reference where it fits, else one derived from it, the same every time; the look-up goes by it. */
export function payoutReferenceId(reference: string): string {
  if (reference.length <= LONGEST_REFERENCE) return reference;
  return createHash('sha256').update(reference).digest('hex').slice(0, LONGEST_REFERENCE);
}
