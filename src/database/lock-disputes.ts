import type { DisputeStatus } from '../domain/event-reading.ts';
import type { Tx } from './pool.ts';

/** A dispute whose row this transaction holds. Amounts are minor units. */
export interface LockedDispute {
  readonly source: string;
  readonly disputeId: string;
  readonly paymentId: string;
  readonly orderId: string | null;
  readonly status: DisputeStatus;
  readonly amount: bigint;
  readonly currency: string;
  readonly withheld: boolean;
  readonly fee: bigint;
  readonly feeCurrency: string;
  readonly revokes: boolean;
  /** What of it stands in its order's `amount_charged_back`, or was taken back from the wallet that its payment filled. */
  readonly chargedBack: bigint;
  readonly feePostings: number;
  readonly corrections: number;
  readonly openedAt: Date | null;
  readonly closedAt: Date | null;
}

export const DISPUTE_COLUMNS = `
  source, dispute_id as "disputeId", payment_id as "paymentId", order_id as "orderId", status, amount, currency, withheld, fee,
  fee_currency as "feeCurrency", revokes, charged_back as "chargedBack", fee_postings as "feePostings", corrections,
  opened_at as "openedAt", closed_at as "closedAt"`;

/** Takes the rows of a payment's disputes; its order's and its own are taken before. */
export async function lockDisputes(tx: Tx, source: string, paymentId: string): Promise<LockedDispute[]> {
  const { rows } = await tx.query<LockedDispute>(
    `select ${DISPUTE_COLUMNS} from disputes where source = $1 and payment_id = $2 order by dispute_id for update`,
    [source, paymentId],
  );
  return rows;
}
