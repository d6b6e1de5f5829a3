import { moneyKept, type OrderMoney } from './money-kept.ts';
import { currencyExponent } from './money.ts';

export interface LoyaltyBasis extends OrderMoney {
  readonly currency: string;
  readonly amountDue: bigint;
  /** Points for one major unit; may have a fraction (0.5). */
  readonly rate: number;
}

/** Fractions of a point per major unit are kept to a millionth, so that the sum is done in integers. */
const RATE_SCALE = 1_000_000;

/** A rate as it is kept and calculated with, in millionths of a point. */
export function scaledLoyaltyRate(rate: number): bigint {
  return BigInt(Math.round(rate * RATE_SCALE));
}

/** The inverse. */
export function loyaltyRateOf(scaled: bigint): number {
  return Number(scaled) / RATE_SCALE;
}

/**
 * The points that stand after any event (C4): floor(rate × min(due, money kept) in major units). An entry
 * is always the difference to the sum before, so that the sums are exact whatever the order of events.
 */
export function loyaltyPointsStanding(basis: LoyaltyBasis): bigint {
  const { currency, amountDue, rate } = basis;
  const kept = moneyKept(basis);
  const rewarded = kept < amountDue ? kept : amountDue;
  const scaledRate = scaledLoyaltyRate(rate);
  return (rewarded * scaledRate) / (BigInt(RATE_SCALE) * 10n ** BigInt(currencyExponent(currency)));
}
