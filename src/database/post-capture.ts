import type { PoolClient } from 'pg';
import { capturedPostingKey } from '../domain/keys.ts';
import { CUSTOMER_DEPOSITS, gatewayAccount, SALES, UNALLOCATED } from '../domain/ledger.ts';
import { postToLedger } from './post-to-ledger.ts';

export interface CapturePosting {
  readonly source: string;
  readonly paymentId: string;
  readonly order: { readonly id: string } | null;
  readonly amount: bigint;
  readonly currency: string;
  /** The money already stands in the ledger as unallocated: it waited for a human, and now needs none. */
  readonly alreadyPosted: boolean;
  /** What of the unallocated money has gone back meanwhile: it is not there to be moved. */
  readonly alreadyRefunded?: bigint;
}

/**
 * The captured money enters the books under its business key, owed to `account`. What completes an order turns what is due, of all
 * its deposits, into a sale in the same posting.
 */
export async function postCapture(tx: PoolClient, c: CapturePosting, account: string, sale = 0n): Promise<void> {
  const key = capturedPostingKey(c.source, c.paymentId);
  await postToLedger(
    tx,
    {
      // Money that stood unallocated is moved, not captured a second time.
      key: c.alreadyPosted ? `allocated:${key}` : key,
      currency: c.currency,
      transfers: [
        {
          debit: c.alreadyPosted ? UNALLOCATED : gatewayAccount(c.source),
          credit: account,
          amount: c.amount - (c.alreadyPosted ? (c.alreadyRefunded ?? 0n) : 0n),
        },
        { debit: CUSTOMER_DEPOSITS, credit: SALES, amount: sale },
      ],
    },
    { orderId: c.order?.id ?? null, source: c.source, paymentId: c.paymentId },
  );
}
