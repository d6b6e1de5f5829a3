import type { PoolClient } from 'pg';
import type { LockedOrder } from '../lock-order.ts';

/** The payment that completed the order. */
export interface PaidBy {
  readonly source: string;
  readonly paymentId: string;
  readonly pointsPerMajorUnit: number;
}

/** A change of the refunds of counted money, as it stands after the change. */
export interface RefundChange {
  readonly refundId: string;
  /** `returned`: the bank sent a succeeded refund back. */
  readonly change: 'succeeded' | 'returned';
  /** What goes beyond the surplus: a sale taken back (C4). Minor units. */
  readonly saleAmount: bigint;
  /** The refunds of the counted payments reach all that was paid. */
  readonly full: boolean;
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
  /** A refund of counted money succeeded or was returned; `order` shows the amounts after that. */
  reverse(tx: PoolClient, order: LockedOrder, refund: RefundChange): Promise<void>;
}
