import type { EventReading } from '../domain/event-reading.ts';
import type {
  DisputeFacts,
  GatewayCapabilities,
  PaymentFacts,
  PayoutFacts,
  PreparedPayment,
  RefundFacts,
} from '../domain/gateway-facts.ts';

/** Request headers with lower-case names, as node:http gives them. */
export type WebhookHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface WebhookToVerify {
  /** The bytes as received, inflated; nothing has looked at them before (A1). */
  readonly body: Uint8Array;
  readonly headers: WebhookHeaders;
  /** Milliseconds since the epoch: the clock is passed in. */
  readonly now: number;
}

export interface RefundOrder {
  readonly paymentId: string;
  readonly amount: bigint;
  readonly currency: string;
  /** Ours, derived from the business action, the same in every attempt; the look-up goes by it. */
  readonly reference: string;
  /** Readable; an adapter whose gateway wants another alphabet or length derives it from this one. */
  readonly idempotencyKey: string;
}

export interface PaymentOrder {
  readonly orderId: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly reference: string;
  readonly idempotencyKey: string;
  readonly returnUrl: string | null;
}

export interface ChargeOrder {
  /** Null where the money is not for an order: a wallet's top-up. */
  readonly orderId: string | null;
  readonly customerId: string;
  /** The gateway's name of the saved card. */
  readonly paymentMethod: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly reference: string;
  readonly idempotencyKey: string;
}

export interface PayoutOrder {
  readonly sellerId: string;
  /** Where the gateway sends the money: its own name of an account. */
  readonly destination: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly reference: string;
  readonly idempotencyKey: string;
}

/** What to do about a payment that is authorised. */
export interface AuthorizationOrder {
  readonly paymentId: string;
  /** To be captured, which may be less than what is authorised; what is voided is released whole. */
  readonly amount: bigint;
  readonly currency: string;
  readonly reference: string;
  readonly idempotencyKey: string;
}

/** An event as its webhook would have brought it. */
export interface ListedEvent {
  readonly body: Uint8Array;
  readonly headers: WebhookHeaders;
}

/** A part of what the gateway lists, in its own order. */
export interface EventPage {
  readonly events: readonly ListedEvent[];
  /** Where the list goes on, in the adapter's own words; null: there is no more for now. */
  readonly next: string | null;
  /**
   * Whether a later listing may begin at `next`: nothing is expected to appear before it any more. Null within a stretch, about which
   * its last page decides.
   */
  readonly settled: boolean | null;
}

export interface EventListing {
  /** A `next` of before; null: from the beginning. */
  readonly after: string | null;
  /** What is older is not asked for, where the gateway can be told. */
  readonly since: Date;
  /** The clock, passed in. */
  readonly now: Date;
  /** Entries on a page at most, 100 or fewer. */
  readonly limit: number;
}

/**
 * One configured account of one payment gateway. Every method that calls out has a timeout of its own, never retries,
 * and throws nothing but `GatewayError`.
 */
export interface Gateway {
  /** The configured account's name: part of every identity (A8). */
  readonly source: string;
  readonly capabilities: GatewayCapabilities;

  /** Throws `InvalidSignature`; whatever a sender puts into headers or body, it throws nothing else. */
  verify(webhook: WebhookToVerify): void;
  /** Never throws: what cannot be understood is a reading with verdict `hold`. */
  read(body: Uint8Array, headers: WebhookHeaders): EventReading;

  /** The payment as it is now; null where the gateway does not know it. */
  fetchPayment(paymentId: string): Promise<PaymentFacts | null>;
  /** Every refund of the payment, all pages, whoever began it. */
  listRefunds(paymentId: string): Promise<RefundFacts[]>;
  /** Our refunds of a payment under one reference; usually none or one. */
  findRefunds(paymentId: string, reference: string): Promise<RefundFacts[]>;
  /** The dispute as it is now; null where the gateway does not know it. Rejected `not_supported` where it shows none. */
  fetchDispute(disputeId: string): Promise<DisputeFacts | null>;
  createRefund(order: RefundOrder): Promise<RefundFacts>;
  /** Payments that we prepared under one reference, with the way to pay them. */
  findPayments(reference: string, orderId: string): Promise<PreparedPayment[]>;
  preparePayment(order: PaymentOrder): Promise<PreparedPayment>;

  /**
   * Payments that we charged under one reference, failed attempts among them where the gateway keeps them.
   * A gateway that cannot do it throws a rejected `not_supported`; so do the next four.
   *
   * @param since when we reserved it, by our clock: nothing under the reference is older
   */
  findCharges(reference: string, customerId: string, since: Date): Promise<PaymentFacts[]>;
  /** Charges a saved card. A declined card is rejected with the gateway's code (`card_declined`, …), not `ourFault`. */
  chargeSavedCard(order: ChargeOrder): Promise<PaymentFacts>;
  /** Our payouts under one reference, which nothing older than `since` bears; usually none or one. */
  findPayouts(reference: string, since: Date): Promise<PayoutFacts[]>;
  /** Null where the gateway does not know it. */
  fetchPayout(payoutId: string): Promise<PayoutFacts | null>;
  createPayout(order: PayoutOrder): Promise<PayoutFacts>;

  /**
   * Takes the money of an authorised payment; what is not taken is released. The look-up for it, and for the next one, is
   * `fetchPayment`: a payment has one end. One that was captured before is rejected, as `already_captured` where the gateway
   * says so. A gateway that cannot do it throws a rejected `not_supported`.
   */
  capturePayment(order: AuthorizationOrder): Promise<PaymentFacts>;
  /** Releases an authorised payment whole. */
  voidPayment(order: AuthorizationOrder): Promise<PaymentFacts>;

  /** A page of what `capabilities.listsEvents` says; throws a rejected `not_supported` where that is null. */
  listEvents(listing: EventListing): Promise<EventPage>;
}
