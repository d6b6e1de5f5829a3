import type { PoolClient } from 'pg';
import type { LockedOrder } from '../lock-order.ts';

/** The payment that completed the order. */
export interface PaidBy {
  readonly source: string;
  readonly paymentId: string;
  readonly pointsPerMajorUnit: number;
}

/** Counted money went, or came back: by a refund, or by a lost dispute that revokes. As it stands after the change. */
export interface MoneyTaken {
  /** The refund's id, or the dispute's key. */
  readonly takenBy: string;
  /** `returned`: the bank sent a succeeded refund back, or a lost dispute was won after all. */
  readonly change: 'succeeded' | 'returned';
  /** What a refund takes beyond the surplus: a sale taken back (C4). Minor units; none for a dispute, which is a loss. */
  readonly saleAmount: bigint;
  /** Nothing is left of all that was paid. */
  readonly full: boolean;
  /** For orders that do not know their own rate. */
  readonly pointsPerMajorUnit: number;
}

/**
 * One consequence of a paid order: a module of one file. Both halves run inside the money transaction, hold the
 * order's row, and are keyed so that running them again changes nothing (C3). A merchant adds one here and in
 * `effects/index.ts`; where its tables are in another database, a consumer of the outbox does it.
 */
export interface Effect {
  readonly name: string;
  /** The order has just become paid; `order` shows the amounts after that. */
  apply(tx: PoolClient, order: LockedOrder, paidBy: PaidBy): Promise<void>;
  /** Counted money went or came back; `order` shows the amounts after that. */
  reverse(tx: PoolClient, order: LockedOrder, taken: MoneyTaken): Promise<void>;
}
