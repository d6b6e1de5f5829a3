import type { DisputeStatus } from './event-reading.ts';

/** What one event, or one look at the gateway, says of a dispute. Amounts are minor units. */
export interface DisputeReport {
  readonly status: DisputeStatus;
  /** Null, or zero, where it does not say. */
  readonly amount: bigint | null;
  readonly currency: string | null;
  readonly fee: bigint | null;
  /** Null: that of the amount. */
  readonly feeCurrency: string | null;
  /** The gateway's own time, in milliseconds since the epoch. */
  readonly at: number | null;
}

/** What all reports of a dispute together come to. */
export interface DisputeStanding {
  readonly status: DisputeStatus;
  readonly amount: bigint;
  readonly currency: string;
  /** Whether the gateway keeps the money back while the dispute is open. */
  readonly withheld: boolean;
  readonly fee: bigint;
  readonly feeCurrency: string;
  readonly openedAt: number | null;
  /** Null while it is open, and where the gateway gives no time. */
  readonly closedAt: number | null;
}

/** No report of the dispute says how much is contested. */
export const DISPUTE_LACKS_AMOUNT = 'No event about the dispute says how much is contested, and in which currency.';
export const DISPUTE_CURRENCIES_DIFFER = 'The events about the dispute name several currencies.';

/**
 * What a set of reports comes to, whatever their order: a closed dispute is closed, whatever is said of its beginning; of two
 * ends the later one by the gateway's own time counts, and where the times do not tell, the loss.
 *
 * @returns a sentence where they come to nothing that can be booked
 */
export function disputeStanding(reports: readonly DisputeReport[]): DisputeStanding | string {
  const ranked = [...reports].sort(byRank);
  const amounts = ranked.filter((r) => r.amount !== null && r.amount > 0n && r.currency !== null);
  const told = amounts.at(-1);
  const last = ranked.at(-1);
  if (last === undefined || told?.amount == null || told.currency === null) return DISPUTE_LACKS_AMOUNT;
  const charged = ranked.findLast((r) => r.fee !== null);
  const { amount, currency } = told;
  const feeCurrency = charged?.feeCurrency ?? currency;
  const feeCurrencies = ranked.filter((r) => (r.fee ?? 0n) > 0n).map((r) => r.feeCurrency ?? r.currency ?? currency);
  if (amounts.some((r) => r.currency !== currency) || feeCurrencies.some((c) => c !== feeCurrency)) {
    return DISPUTE_CURRENCIES_DIFFER;
  }
  const opened = ranked.flatMap((r) => (r.status === 'opened' && r.at !== null ? [r.at] : []));
  return {
    ...{ status: last.status, amount, currency, withheld: true, fee: charged?.fee ?? 0n, feeCurrency },
    openedAt: opened.length === 0 ? null : Math.min(...opened),
    closedAt: last.status === 'opened' ? null : last.at,
  };
}

/** The last by this order counts. Amounts only make it the same for every order of reports that agree in all else. */
function byRank(a: DisputeReport, b: DisputeReport): number {
  const closed = Number(a.status !== 'opened') - Number(b.status !== 'opened');
  // A report without a time counts as the earliest: one that has a time knows more.
  const later = a.at === b.at ? 0 : (a.at ?? -1) - (b.at ?? -1);
  const lost = Number(a.status === 'lost') - Number(b.status === 'lost');
  return closed || later || lost || compare(a.amount, b.amount) || compare(a.fee, b.fee);
}

function compare(a: bigint | null, b: bigint | null): number {
  const [left, right] = [a ?? -1n, b ?? -1n];
  return left < right ? -1 : left > right ? 1 : 0;
}
