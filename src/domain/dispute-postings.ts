import type { DisputeStatus } from './event-reading.ts';
import { CHARGEBACK_LOSSES, DISPUTED_FUNDS, DISPUTE_FEES, type Transfer } from './ledger.ts';

/** The part of a dispute that the books show. */
export interface DisputedMoney {
  readonly status: DisputeStatus;
  readonly amount: bigint;
  /** Whether the gateway keeps it back while the dispute is open. */
  readonly withheld: boolean;
}

/**
 * What moves in the books when a dispute changes: withheld while it is open, unless the gateway does not, lost when it is
 * lost, back at the gateway when it is won. The difference of two standings, so that their sum is right whatever lay between.
 *
 * @param before null where nothing stood before
 */
export function disputeTransfers(before: DisputedMoney | null, after: DisputedMoney, gateway: string): Transfer[] {
  const withheld = standing(after, 'opened') - standing(before, 'opened');
  const lost = standing(after, 'lost') - standing(before, 'lost');
  // What was withheld and is lost never comes back to the gateway's account in between.
  const across = withheld < 0n && lost > 0n ? smaller(-withheld, lost) : 0n;
  return [
    moved(DISPUTED_FUNDS, CHARGEBACK_LOSSES, across),
    moved(gateway, DISPUTED_FUNDS, withheld + across),
    moved(gateway, CHARGEBACK_LOSSES, lost - across),
  ];
}

/** A change of what the gateway has charged for a dispute, in the fee's currency. */
export function disputeFeeTransfers(before: bigint, after: bigint, gateway: string): Transfer[] {
  return [moved(gateway, DISPUTE_FEES, after - before)];
}

function standing(money: DisputedMoney | null, status: DisputeStatus): bigint {
  if (money?.status !== status || (status === 'opened' && !money.withheld)) return 0n;
  return money.amount;
}

function moved(from: string, to: string, amount: bigint): Transfer {
  return amount < 0n ? { debit: from, credit: to, amount: -amount } : { debit: to, credit: from, amount };
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
