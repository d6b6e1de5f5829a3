import { capturedPostingKey, disputeKey, disputeName, disputePostingKey } from '../domain/keys.ts';
import { CHARGEBACK_LOSSES, WALLET_SHORTFALL, WALLETS } from '../domain/ledger.ts';
import type { LockedDispute } from './lock-disputes.ts';
import type { Tx } from './pool.ts';
import { postToLedger } from './post-to-ledger.ts';

/**
 * What the lost disputes of a top-up that revoke mean to the wallet that it filled: the contested amount leaves it again, as by
 * a refund, as far as it is still there; what had been spent is booked as owed by the customer. Won after all, it comes back. Says the
 * same however often it runs, and whichever of dispute and capture came first; a payment that filled no wallet is left alone.
 *
 * @param disputes all of the payment; their rows are held
 */
export async function settleDisputedWallet(tx: Tx, disputes: readonly LockedDispute[]): Promise<void> {
  for (const dispute of disputes) {
    const due = dispute.revokes ? dispute.amount : 0n;
    if (due === dispute.chargedBack) continue;
    const wallet = await lockWallet(tx, dispute);
    if (wallet === null) continue;
    const { source, disputeId } = dispute;
    const change = due - dispute.chargedBack;
    const taken = change > 0n ? least(change, wallet.balance) : -putBack(-change, dispute.chargedBack, wallet.taken);
    const key = disputePostingKey(change > 0n ? 'revoked' : 'restored', source, disputeId, await stepsOf(tx, dispute));
    await move(tx, wallet.id, dispute, key, -taken);
    const transfers = [
      { account: WALLETS, amount: taken },
      { account: WALLET_SHORTFALL, amount: change - taken },
    ].map(({ account, amount }) =>
      amount > 0n
        ? { debit: account, credit: CHARGEBACK_LOSSES, amount }
        : { debit: CHARGEBACK_LOSSES, credit: account, amount: -amount },
    );
    await postToLedger(tx, { key, currency: dispute.currency, transfers }, dispute);
    await tx.query('update disputes set charged_back = $3, updated_at = now() where source = $1 and dispute_id = $2', [
      source,
      disputeId,
      due,
    ]);
  }
}

/** What goes back into the wallet of `amount` that is given back: the customer's debt is forgiven first. */
function putBack(amount: bigint, chargedBack: bigint, taken: bigint): bigint {
  const owed = chargedBack - taken;
  return amount > owed ? amount - owed : 0n;
}

interface Wallet {
  readonly id: string;
  readonly balance: bigint;
  /** What the dispute has taken out of it so far. */
  readonly taken: bigint;
}

/** The wallet that the disputed payment filled, in the dispute's currency; held from now on. */
async function lockWallet(tx: Tx, { source, paymentId, disputeId, currency }: LockedDispute): Promise<Wallet | null> {
  const { rows } = await tx.query<Wallet>(
    `select w.id, w.balance,
            (select coalesce(-sum(e.amount), 0)::bigint from wallet_entries e where e.wallet_id = w.id and e.refund_id = $3) as taken
     from wallet_entries c join wallets w on w.id = c.wallet_id
     where c.source_event_id = $1 and c.refund_id is null and w.currency = $2 for update of w`,
    [capturedPostingKey(source, paymentId), currency, disputeKey(source, disputeId)],
  );
  return rows[0] ?? null;
}

/** Grows with everything that can change what is due, so that no two postings of a dispute have one key. */
async function stepsOf(tx: Tx, { source, disputeId, corrections }: LockedDispute): Promise<number> {
  const { rows } = await tx.query<{ n: bigint }>(
    `select count(*) as n from state_transitions where machine = 'dispute' and object_id = $1`,
    [disputeName(source, disputeId)],
  );
  return Number(rows[0]?.n ?? 0n) + corrections;
}

async function move(
  tx: Tx,
  walletId: string,
  { source, paymentId, disputeId, currency }: LockedDispute,
  key: string,
  amount: bigint,
): Promise<void> {
  if (amount === 0n) return;
  await tx.query(
    `with entry as (
       insert into wallet_entries (wallet_id, source_event_id, amount, currency, source, payment_id, refund_id)
       values ($1, $2, $3, $4, $5, $6, $7))
     update wallets set balance = balance + $3::bigint, updated_at = now() where id = $1`,
    [walletId, key, amount, currency, source, paymentId, disputeKey(source, disputeId)],
  );
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
