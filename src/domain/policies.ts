/**
 * What a merchant may decide. Everything else is fixed by docs/guarantees.md.
 */
export interface Policies {
  /** A capture for a cancelled or expired order: given back by the machine, or put before a human (B6). */
  readonly lateCapture: 'refund' | 'review';
  /**
   * A dispute that was lost: the order keeps its consequences, or loses them as by a refund of the same amount; bookings,
   * gift cards and packages stop when refunds and lost disputes together reach all that was paid. Likewise for a wallet, which
   * keeps what its top-up filled in, or loses it.
   */
  readonly disputeLost: 'keep' | 'revoke';
  /** How long an event waits for its order before a human is asked (B7), in milliseconds. */
  readonly orderWaitMs: number;
  /** How far a webhook's own timestamp may lie from our clock, either side, in milliseconds. */
  readonly webhookToleranceMs: number;
  /** How long a webhook may be on its way before its event, seen at the gateway, is taken in without it (H2), in milliseconds. */
  readonly missingWebhookAfterMs: number;
  /** How long a request under an Idempotency-Key may run before its key is completed from its reservation (E4). */
  readonly idempotencyLeaseMs: number;
  /** How long the answer to a request under an Idempotency-Key is kept, in milliseconds. */
  readonly idempotencyKeepMs: number;
  /** How long a row of the outbox is kept after it was published, in milliseconds. */
  readonly outboxKeepMs: number;
  /** Lengthens (never shortens) the gateway's settle time between two look-ups after an unknown outcome (F2); null keeps it. */
  readonly unknownSettleMs: number | null;
  /** Loyalty points earned per major unit of money kept (C4). */
  readonly loyaltyPointsPerMajorUnit: number;
  /** Events whose own time lies before this moment are stored and ignored; null ignores none. Milliseconds since the epoch. */
  readonly ignoreBefore: number | null;
}

const MINUTE = 60_000;

/** Defaults; each number argues for itself. */
export const DEFAULT_POLICIES: Policies = {
  lateCapture: 'refund',
  // Whether the customer keeps what was booked is for people to say; a chargeback alone proves nothing.
  disputeLost: 'keep',
  // A day covers a shop whose order service was down over night; after that nobody is coming by itself.
  orderWaitMs: 24 * 60 * MINUTE,
  // What Stripe and Standard Webhooks both use: longer invites replays, shorter refuses honest clock drift.
  webhookToleranceMs: 5 * MINUTE,
  // Gateways send within seconds, and a second time within a minute or two where the first was not taken. A customer who has paid
  // and sees nothing waits this long and one interval of the schedule, not longer.
  missingWebhookAfterMs: 3 * MINUTE,
  // Far longer than the API's longest wait of 5 s, short enough that a client's retry finds the truth.
  idempotencyLeaseMs: 2 * MINUTE,
  // A client that was down over a weekend still finds its answer; a later repeat finds the business row instead.
  idempotencyKeepMs: 72 * 60 * MINUTE,
  // Past any receiver's retries and a month's questions about what was announced; the history itself is kept for good.
  outboxKeepMs: 30 * 24 * 60 * MINUTE,
  unknownSettleMs: null,
  loyaltyPointsPerMajorUnit: 1,
  ignoreBefore: null,
};
