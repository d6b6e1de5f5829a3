/** What a human can be asked about (F5). */
export type DeadLetterKind =
  | 'refund_failed'
  | 'payout_failed'
  | 'outcome_unknown'
  | 'wrong_currency'
  | 'late_capture'
  | 'order_not_payable'
  | 'unmatched_payment'
  | 'unknown_at_gateway'
  | 'event_unreadable'
  | 'delivery_failed'
  | 'refunds_exceed_captured';

/**
 * What a human can decide. `resolve` says the outcome seen at the gateway; `accept` counts the payment; `refund` gives it
 * back.
 */
export type DeadLetterChoice = 'retry' | 'resolve' | 'give_up' | 'refund' | 'accept';

const CHOICES: Readonly<Record<DeadLetterKind, readonly DeadLetterChoice[]>> = {
  refund_failed: ['retry', 'resolve', 'give_up'],
  payout_failed: ['retry', 'resolve', 'give_up'],
  outcome_unknown: ['retry', 'resolve', 'give_up'],
  wrong_currency: ['refund', 'give_up', 'accept'],
  late_capture: ['refund', 'give_up', 'accept'],
  order_not_payable: ['refund', 'give_up', 'accept'],
  unmatched_payment: ['retry', 'refund', 'give_up'],
  unknown_at_gateway: ['retry', 'refund', 'give_up'],
  event_unreadable: ['retry', 'give_up'],
  delivery_failed: ['retry', 'give_up'],
  refunds_exceed_captured: ['resolve', 'give_up'],
};

/** The choices of a dead letter; money counts for an order only in the order's own currency. */
export function deadLetterChoices(kind: DeadLetterKind, currencyMatches: boolean): readonly DeadLetterChoice[] {
  return CHOICES[kind].filter((choice) => choice !== 'accept' || currencyMatches);
}
