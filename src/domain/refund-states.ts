/**
 * The states of one refund (F3, E6). `unknown`: sent, and nobody knows whether it happened. `needs_review`: a human
 * decides. Both keep holding their amount.
 */
export const REFUND_STATUSES = ['pending', 'succeeded', 'failed', 'unknown', 'needs_review'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];

/** What a gateway can say about a refund. */
export type GatewayRefundStatus = 'pending' | 'succeeded' | 'failed';

/** From each state, the states that one named transition reaches. */
export const REFUND_TRANSITIONS: Readonly<Record<RefundStatus, Readonly<Partial<Record<RefundStatus, string>>>>> = {
  pending: { succeeded: 'succeed', failed: 'fail', unknown: 'lose_sight', needs_review: 'ask' },
  unknown: { pending: 'find', succeeded: 'find', failed: 'find', needs_review: 'ask' },
  needs_review: { pending: 'retry', succeeded: 'find', failed: 'find', unknown: 'lose_sight' },
  // A bank can send a refund back days after the gateway called it done.
  succeeded: { failed: 'return' },
  failed: {},
};

/** Whether a named transition leads from one status to the other. */
export function refundMayBecome(from: RefundStatus, to: RefundStatus): boolean {
  return REFUND_TRANSITIONS[from][to] !== undefined;
}

/** Refunds in these states hold their amount: it cannot be reserved again (E6). */
export const HOLDING_REFUND_STATUSES: readonly RefundStatus[] = ['pending', 'unknown', 'needs_review', 'succeeded'];
