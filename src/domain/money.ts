/** Integer minor units with their currency. Never a float, never an amount without its currency. */
export interface Money {
  readonly amount: bigint;
  /** ISO 4217, upper case. */
  readonly currency: string;
}

/** ISO 4217's exponents that differ from 2: how many of the last digits are minor units. */
const EXPONENTS: Readonly<Record<string, number>> = {
  BIF: 0, CLP: 0, DJF: 0, GNF: 0, ISK: 0, JPY: 0, KMF: 0, KRW: 0, PYG: 0, RWF: 0, UGX: 0, UYI: 0, VND: 0, VUV: 0,
  XAF: 0, XOF: 0, XPF: 0,
  BHD: 3, IQD: 3, JOD: 3, KWD: 3, LYD: 3, OMR: 3, TND: 3,
  CLF: 4, UYW: 4,
}; // prettier-ignore

/** How many digits of an amount in this currency are minor units. */
export function currencyExponent(currency: string): number {
  return EXPONENTS[currency] ?? 2;
}

/** For people: `49.90 EUR`, `500 JPY`. */
export function formatMoney({ amount, currency }: Money): string {
  const exponent = currencyExponent(currency);
  const sign = amount < 0n ? '-' : '';
  const digits = (amount < 0n ? -amount : amount).toString().padStart(exponent + 1, '0');
  const whole = digits.slice(0, digits.length - exponent);
  return exponent === 0 ? `${sign}${whole} ${currency}` : `${sign}${whole}.${digits.slice(-exponent)} ${currency}`;
}

/** The largest amount that a JSON number carries exactly; beyond it amounts are refused, never rounded. */
export const MAX_JSON_AMOUNT = BigInt(Number.MAX_SAFE_INTEGER);
