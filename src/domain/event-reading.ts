import type { Mode } from './gateway-facts.ts';
import type { PaymentStatus } from './payment-states.ts';
import type { GatewayRefundStatus } from './refund-states.ts';

export type EventSubject = 'payment' | 'refund' | 'dispute' | 'payout';
export type DisputeStatus = 'opened' | 'won' | 'lost';
export type PayoutEventStatus = 'pending' | 'paid' | 'failed';

/**
 * What a gateway adapter understands of one verified webhook. An event is a hint that something changed (B3);
 * nothing here moves money by its own word.
 */
export interface EventReading {
  /** `take`: hand it to the payment's workflow. `ignore`: known not to matter (A7). `hold`: a human must look (A7). */
  readonly verdict: 'take' | 'ignore' | 'hold';
  /** Why it is ignored or held, as a sentence; null when taken. */
  readonly reason: string | null;
  /** The gateway's id of the event as delivered; null: one is derived from the fact (A4). */
  readonly eventId: string | null;
  /** The gateway's type; `unreadable` where there is none. */
  readonly eventType: string;
  readonly subject: EventSubject | null;
  /** The refund, dispute or payout that the event is about; for a payment event the payment itself. */
  readonly objectId: string | null;
  readonly paymentId: string | null;
  readonly orderId: string | null;
  /** The state the event claims; null for an id-only notification. */
  readonly claimed: PaymentStatus | GatewayRefundStatus | DisputeStatus | PayoutEventStatus | null;
  /** Minor units; null where absent, which is never zero. */
  readonly amount: bigint | null;
  readonly currency: string | null;
  /** Of a dispute: what the gateway charges for it, all in all, in the same currency; null where it does not say. */
  readonly fee: bigint | null;
  /**
   * Of a dispute: whether the gateway keeps the money back by now, which it does not while a bank only inquires; null where
   * the event does not tell.
   */
  readonly withheld: boolean | null;
  readonly mode: Mode | null;
  /** The gateway's own time of the event, milliseconds since the epoch. */
  readonly occurredAt: number | null;
  /** Our reference, where the event carries one. */
  readonly reference: string | null;
}
