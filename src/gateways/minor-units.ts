import { currencyExponent } from '../domain/money.ts';

/** How one gateway counts money, where that is not two decimal digits. */
export interface GatewayCurrencies {
  /** By ISO 4217 code: how many of the last digits of this gateway's amounts are decimals. */
  readonly exponents: Readonly<Record<string, number>>;
  /** Amounts that the gateway takes in larger steps than its last digit allows, in its own units. */
  readonly steps: Readonly<Record<string, bigint>>;
}

/**
 * A gateway's amount in minor units of ISO 4217, exactly. Null where that cannot be: a fraction of our smallest unit, or
 * a currency whose decimals at this gateway nobody has looked up. Such an amount is refused, never rounded.
 */
export function toIsoAmount(amount: bigint, currency: string, currencies: GatewayCurrencies): bigint | null {
  const theirs = gatewayExponent(currency, currencies);
  return theirs === null ? null : rescale(amount, theirs, currencyExponent(currency));
}

/** An amount in minor units of ISO 4217 as the gateway counts it, exactly; null where that cannot be. */
export function toGatewayAmount(amount: bigint, currency: string, currencies: GatewayCurrencies): bigint | null {
  const theirs = gatewayExponent(currency, currencies);
  return theirs === null ? null : rescale(amount, currencyExponent(currency), theirs);
}

/** Whether the gateway takes a payment of this amount (in its own units) in this currency. */
export function isPayableStep(amount: bigint, currency: string, { steps }: GatewayCurrencies): boolean {
  const step = Object.hasOwn(steps, currency) ? steps[currency] : undefined;
  return step === undefined || amount % step === 0n;
}

function gatewayExponent(currency: string, { exponents }: GatewayCurrencies): number | null {
  if (Object.hasOwn(exponents, currency)) return exponents[currency] ?? null;
  // Two digits is every gateway's rule; where ISO 4217 departs from it, a guess could be a hundred times wrong.
  return currencyExponent(currency) === 2 ? 2 : null;
}

function rescale(amount: bigint, from: number, to: number): bigint | null {
  if (to >= from) return amount * 10n ** BigInt(to - from);
  const divisor = 10n ** BigInt(from - to);
  return amount % divisor === 0n ? amount / divisor : null;
}
