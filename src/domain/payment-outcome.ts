/**
 * What became of one caller or one event of a payment (B2). Of all callers and events of a payment one gets `marked_paid`
 * (or `partially_paid`), every other `already_paid_same_payment`.
 */
export const PAYMENT_OUTCOMES = [
  'marked_paid',
  'already_paid_same_payment',
  'extra_payment',
  'not_payable',
  'partially_paid',
  'held_for_review',
  'failed',
  'pending',
] as const;
export type PaymentOutcome = (typeof PAYMENT_OUTCOMES)[number];
