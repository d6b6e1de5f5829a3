/**
 * The accounts and postings of the double-entry ledger (C2). Each posting is balanced by construction: what is debited
 * is credited.
 */

/** What the gateway owes us: money captured and not yet given back. */
export function gatewayAccount(source: string): string {
  return `gateway_receivable:${source}`;
}

/** Money received against an order that is not (or more than) paid: owed to the customer until it is. */
export const CUSTOMER_DEPOSITS = 'customer_deposits';
export const SALES = 'sales';
export const SALES_REFUNDS = 'sales_refunds';
/** Extra and late captures, owed back. */
export const REFUNDS_PAYABLE = 'refunds_payable';
/** Paid out to sellers. */
export const SELLER_PAYOUTS = 'seller_payouts';
/** What orders brought along that were paid, and perhaps refunded, before this system ran. */
export const OPENING_BALANCES = 'opening_balances';
/** What customers hold in wallets. */
export const WALLETS = 'wallets';
/** Refunded, or charged back, of a wallet's top-up although the wallet had been spent: owed by the customer. */
export const WALLET_SHORTFALL = 'wallet_shortfall';
/** Money of payments that their customers contest: withheld until the bank decides. */
export const DISPUTED_FUNDS = 'disputed_funds';
/** Disputes that were lost, less what the wallets they had filled gave back. */
export const CHARGEBACK_LOSSES = 'chargeback_losses';
/** What gateways charge for disputes. */
export const DISPUTE_FEES = 'dispute_fees';
/** Captures that wait for a human's decision. */
export const UNALLOCATED = 'unallocated';

/** One transfer of value from the credited to the debited account. */
export interface Transfer {
  readonly debit: string;
  readonly credit: string;
  readonly amount: bigint;
}

export interface Posting {
  /** The key of the business event; unique with account and side. */
  readonly key: string;
  readonly currency: string;
  readonly transfers: readonly Transfer[];
}

export interface LedgerLine {
  readonly account: string;
  readonly side: 'debit' | 'credit';
  readonly amount: bigint;
}

/** The lines of a posting, one per account and side; nothing for transfers of zero. */
export function ledgerLines(posting: Posting): LedgerLine[] {
  const sums = new Map<string, LedgerLine>();
  const add = (account: string, side: 'debit' | 'credit', amount: bigint) => {
    const name = `${side}:${account}`;
    sums.set(name, { account, side, amount: (sums.get(name)?.amount ?? 0n) + amount });
  };
  for (const { debit, credit, amount } of posting.transfers) {
    if (amount === 0n) continue;
    add(debit, 'debit', amount);
    add(credit, 'credit', amount);
  }
  return [...sums.values()];
}

/**
 * How a refund of counted money splits: first the surplus goes back (it was never a sale), what goes beyond it is a
 * returned sale with a credit note (C4).
 */
export function splitRefund(
  surplus: bigint,
  refundedBefore: bigint,
  amount: bigint,
): { surplus: bigint; sale: bigint } {
  const beyond = (sum: bigint) => (sum > surplus ? sum - surplus : 0n);
  const sale = beyond(refundedBefore + amount) - beyond(refundedBefore);
  return { surplus: amount - sale, sale };
}
