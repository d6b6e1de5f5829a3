import { gatewayAccount, WALLET_SHORTFALL, WALLETS, type Transfer } from '../domain/ledger.ts';
import { refundedPostingKey, refundReturnedPostingKey } from '../domain/keys.ts';
import type { RefundedPayment, RefundRow } from './apply-refunds.ts';
import type { Tx } from './pool.ts';

/**
 * A refund of a top-up takes the money out of the wallet again, as far as it is still there: a balance never falls below
 * zero, and what had been spent is booked as owed by the customer. A refund that the bank returned puts back what it took.
 *
 * @returns the ledger's transfers
 */
export async function takeFromWallet(
  tx: Tx,
  payment: RefundedPayment,
  refund: RefundRow,
  change: 'succeeded' | 'returned',
): Promise<Transfer[]> {
  const repeat = refund.supersededGatewayIds.length;
  const taken = refundedPostingKey(refund.id, repeat);
  const gateway = gatewayAccount(payment.source);
  if (change === 'succeeded') {
    const { rows } = await tx.query<{ taken: bigint }>(
      `with wallet as (
         select w.id, w.balance from wallets w join wallet_entries e on e.wallet_id = w.id
         where e.source = $1 and e.payment_id = $2 and e.refund_id is null for update of w),
       taking as (select id, least(balance, $3::bigint) as amount from wallet),
       entry as (
         insert into wallet_entries (wallet_id, source_event_id, amount, currency, source, payment_id, refund_id)
         select id, $4, -amount, $5, $1, $2, $6 from taking where amount > 0),
       updated as (
         update wallets w set balance = w.balance - t.amount, updated_at = now() from taking t where w.id = t.id)
       select coalesce(sum(amount), 0)::bigint as taken from taking`,
      [payment.source, payment.paymentId, refund.amount, taken, refund.currency, refund.id],
    );
    const amount = rows[0]?.taken ?? 0n;
    return [
      { debit: WALLETS, credit: gateway, amount },
      { debit: WALLET_SHORTFALL, credit: gateway, amount: refund.amount - amount },
    ];
  }
  const { rows } = await tx.query<{ put: bigint }>(
    `with took as (select wallet_id, -amount as amount from wallet_entries where source_event_id = $1),
     entry as (
       insert into wallet_entries (wallet_id, source_event_id, amount, currency, source, payment_id, refund_id)
       select wallet_id, $2, amount, $3, $4, $5, $6 from took),
     updated as (
       update wallets w set balance = w.balance + t.amount, updated_at = now() from took t where w.id = t.wallet_id)
     select coalesce(sum(amount), 0)::bigint as put from took`,
    [
      ...[taken, refundReturnedPostingKey(refund.id, repeat), refund.currency, payment.source, payment.paymentId],
      refund.id,
    ],
  );
  const amount = rows[0]?.put ?? 0n;
  return [
    { debit: gateway, credit: WALLETS, amount },
    { debit: gateway, credit: WALLET_SHORTFALL, amount: refund.amount - amount },
  ];
}
