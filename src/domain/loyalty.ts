import { currencyExponent } from './money.ts';

export interface LoyaltyBasis {
  readonly currency: string;
  readonly amountDue: bigint;
  readonly amountPaid: bigint;
  readonly amountRefunded: bigint;
  /** Points for one major unit; may have a fraction (0.5). */
  readonly rate: number;
}

/** Fractions of a point per major unit are kept to a millionth, so that the sum is done in integers. */
const RATE_SCALE = 1_000_000;

/**
 * The points that stand after any event (C4): floor(rate × min(due, max(0, paid − refunded)) in major units). An entry
 * is always the difference to the sum before, so that the sums are exact whatever the order of events.
 */
export function loyaltyPointsStanding({ currency, amountDue, amountPaid, amountRefunded, rate }: LoyaltyBasis): bigint {
  const kept = amountPaid > amountRefunded ? amountPaid - amountRefunded : 0n;
  const rewarded = kept < amountDue ? kept : amountDue;
  const scaledRate = BigInt(Math.round(rate * RATE_SCALE));
  return (rewarded * scaledRate) / (BigInt(RATE_SCALE) * 10n ** BigInt(currencyExponent(currency)));
}
