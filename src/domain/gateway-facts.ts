import type { DisputeStatus } from './event-reading.ts';
import type { PaymentStatus } from './payment-states.ts';
import type { GatewayRefundStatus } from './refund-states.ts';

/** Which books a gateway account keeps: a test event never touches a live order (A8). */
export type Mode = 'test' | 'live';

/** A payment as its gateway shows it now; the truth that events only hint at (B3). */
export interface PaymentFacts {
  readonly paymentId: string;
  /** The merchant's order, where the gateway's object names one. */
  readonly orderId: string | null;
  /** Our reference, where we made the payment. */
  readonly reference: string | null;
  readonly status: PaymentStatus;
  /** Minor units as the gateway counts them: what was captured once captured, before that what is asked; null where the object lacks it. */
  readonly amount: bigint | null;
  /** ISO 4217, upper case; null where the object lacks it. */
  readonly currency: string | null;
  /** Sum of the refunds that succeeded, by the gateway's word; null where the object does not say. */
  readonly amountRefunded: bigint | null;
  /** Null where the object does not say. */
  readonly mode: Mode | null;
}

/** A refund as its gateway shows it now. */
export interface RefundFacts {
  readonly refundId: string;
  readonly paymentId: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly status: GatewayRefundStatus;
  /** Our reference, if the refund is ours. */
  readonly reference: string | null;
  /** The gateway's word on why it failed. */
  readonly failureCode: string | null;
}

/** A payment that we asked the gateway to prepare, with the way for the customer to pay it. */
export interface PreparedPayment {
  readonly payment: PaymentFacts;
  /** A page of the gateway's; null where it works by client secret. */
  readonly checkoutUrl: string | null;
  readonly clientSecret: string | null;
}

/** A payout as its gateway shows it now. */
export interface PayoutFacts {
  readonly payoutId: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly status: 'pending' | 'paid' | 'failed';
  /** Our reference, if the payout is ours. */
  readonly reference: string | null;
  readonly failureCode: string | null;
}

/** A dispute of a payment as its gateway shows it now. */
export interface DisputeFacts {
  readonly disputeId: string;
  readonly paymentId: string;
  readonly status: DisputeStatus;
  /** What is contested; null where the object lacks it, which is never zero. */
  readonly amount: bigint | null;
  readonly currency: string | null;
  /** Whether the gateway keeps the money back until it is decided; not while a bank only inquires. */
  readonly withheld: boolean;
  /** What the gateway has charged for it so far, less what it gave back; null where it does not say. */
  readonly fee: bigint | null;
  /** The account's currency, which may be another one; null: the same. */
  readonly feeCurrency: string | null;
  /** Milliseconds since the epoch; null where the object does not say. */
  readonly openedAt: number | null;
}

/** What a gateway offers, as data (docs/gateways.md shows it). */
export interface GatewayCapabilities {
  /** A create that got no answer has surely landed, or never will, after this long (F2). */
  readonly settleMs: number;
  /** How long the gateway remembers an idempotency key; null: it keeps none. */
  readonly keyLifetimeMs: number | null;
  /** Whether a refund can be found again by our reference. */
  readonly findsRefundsByReference: boolean;
  /** Whether the gateway can prepare a payment for a customer to complete. */
  readonly preparesPayments: boolean;
  /** Whether a card that the gateway keeps can be charged without its holder. */
  readonly chargesSavedCards: boolean;
  /** Whether a dispute can be looked at; where not, its events are the truth. */
  readonly showsDisputes: boolean;
  /** Whether money can be paid out to a seller. */
  readonly paysOut: boolean;
  /** Whether an authorised payment can be captured by a call. */
  readonly capturesPayments: boolean;
  /** Whether less than what is authorised can be captured, and the rest released. */
  readonly capturesParts: boolean;
  /** Whether an authorised payment can be released by a call. */
  readonly voidsPayments: boolean;
  /**
   * What can be listed of the past, to find webhooks that never came: the events that it sent to us; or whatever happened at the
   * account, of which it may have had no webhook to send. Null: nothing.
   */
  readonly listsEvents: 'sent' | 'happened' | null;
}
