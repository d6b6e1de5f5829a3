import type { PoolClient } from 'pg';
import { ledgerLines, type Posting } from '../domain/ledger.ts';

/** What a posting is about, for whoever reads the ledger. */
export interface PostingContext {
  readonly orderId: string | null;
  readonly source: string;
  readonly paymentId: string | null;
  readonly refundId?: string | null;
}

/**
 * Writes one posting whole. The unique key (business event, account, side) makes a second writing of the same event
 * an error of ours, not a doubled entry: the callers decide under lock and never post twice.
 */
export async function postToLedger(tx: PoolClient, posting: Posting, context: PostingContext): Promise<void> {
  const lines = ledgerLines(posting);
  if (lines.length === 0) return;
  await tx.query(
    `insert into ledger_entries (source_event_id, account, side, amount, currency, order_id, source, payment_id, refund_id)
     select $1, l.account, l.side, l.amount, $2, $3, $4, $5, $6
     from unnest($7::text[], $8::text[], $9::bigint[]) as l (account, side, amount)`,
    [
      posting.key,
      posting.currency,
      context.orderId,
      context.source,
      context.paymentId,
      context.refundId ?? null,
      lines.map((line) => line.account),
      lines.map((line) => line.side),
      lines.map((line) => line.amount),
    ],
  );
}
