import type { PaymentOutcome } from './payment-outcome.ts';
import type { OrderStatus } from './order-states.ts';
import { PAYABLE_ORDER_STATUSES } from './order-states.ts';
import type { Policies } from './policies.ts';

/** What is known, under lock, when a capture is looked at. */
export interface CaptureToDecide {
  /** Null: no such order yet. */
  readonly order: {
    readonly status: OrderStatus;
    readonly currency: string;
    readonly amountDue: bigint;
    readonly amountPaid: bigint;
  } | null;
  readonly capture: { readonly amount: bigint; readonly currency: string };
  /** The row in `order_payments`, if this payment counts already. */
  readonly counted: boolean;
  /** The refund that the machine has reserved for this payment, if any. */
  readonly automaticRefund: 'extra_capture' | 'late_capture' | null;
  readonly lateCapture: Policies['lateCapture'];
  /** The order is paid, or prepared to be paid, at an account of the other mode: test money is none, and live money no test (A8). */
  readonly otherMode: boolean;
}

/** What to do about a capture; each is carried out by one branch of the money transaction. */
export type CaptureDecision =
  | { readonly action: 'count'; readonly outcome: 'marked_paid' | 'partially_paid' }
  | {
      readonly action: 'refund';
      readonly outcome: 'extra_payment' | 'not_payable';
      readonly kind: 'extra_capture' | 'late_capture';
    }
  | {
      readonly action: 'hold';
      readonly outcome: 'held_for_review';
      readonly kind: 'wrong_currency' | 'late_capture' | 'order_not_payable';
    }
  | { readonly action: 'wait_for_order' }
  | { readonly action: 'nothing'; readonly outcome: PaymentOutcome };

/**
 * Decides what a captured payment is to its order (B2, B5, B6, D1). Which of several captures is kept is decided by who
 * commits first: the caller holds the order's row.
 */
export function decideCapture({
  order,
  capture,
  counted,
  automaticRefund,
  lateCapture,
  otherMode,
}: CaptureToDecide): CaptureDecision {
  // Asked first and always: a payment that counts is never given back as extra, whatever the order looks like by now.
  if (counted) return { action: 'nothing', outcome: 'already_paid_same_payment' };
  if (automaticRefund === 'extra_capture') return { action: 'nothing', outcome: 'extra_payment' };
  if (automaticRefund === 'late_capture') return { action: 'nothing', outcome: 'not_payable' };
  if (order === null) return { action: 'wait_for_order' };
  // Never extra either: nothing of one mode makes something of the other superfluous.
  if (otherMode) return { action: 'hold', outcome: 'held_for_review', kind: 'order_not_payable' };
  if (order.status === 'paid') return { action: 'refund', outcome: 'extra_payment', kind: 'extra_capture' };
  if (!PAYABLE_ORDER_STATUSES.includes(order.status)) {
    return lateCapture === 'refund'
      ? { action: 'refund', outcome: 'not_payable', kind: 'late_capture' }
      : { action: 'hold', outcome: 'held_for_review', kind: 'late_capture' };
  }
  if (capture.currency !== order.currency)
    return { action: 'hold', outcome: 'held_for_review', kind: 'wrong_currency' };
  const complete = order.amountPaid + capture.amount >= order.amountDue;
  return { action: 'count', outcome: complete ? 'marked_paid' : 'partially_paid' };
}

/** What the other callers and events of a payment hear, once one of them has got the outcome itself (B3, B4). */
export function outcomeForOthers(outcome: PaymentOutcome): PaymentOutcome {
  return outcome === 'marked_paid' || outcome === 'partially_paid' ? 'already_paid_same_payment' : outcome;
}
