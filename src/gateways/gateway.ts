import type { EventReading } from '../domain/event-reading.ts';
import type { GatewayCapabilities, PaymentFacts, PreparedPayment, RefundFacts } from '../domain/gateway-facts.ts';

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
  createRefund(order: RefundOrder): Promise<RefundFacts>;
  /** Payments that we prepared under one reference, with the way to pay them. */
  findPayments(reference: string, orderId: string): Promise<PreparedPayment[]>;
  preparePayment(order: PaymentOrder): Promise<PreparedPayment>;
}
