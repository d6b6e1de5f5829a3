import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { currencyExponent } from '../../src/domain/money.ts';
import { isPayableStep, toGatewayAmount, toIsoAmount } from '../../src/gateways/minor-units.ts';
import { RAZORPAY_CURRENCIES } from '../../src/gateways/razorpay/currencies.ts';
import { STRIPE_CURRENCIES } from '../../src/gateways/stripe/currencies.ts';
import { readStripeEvent } from '../../src/gateways/stripe/read-event.ts';

function readAmount(literal: string, currency: string) {
  const object = `{"id":"pi_1","status":"succeeded","amount":${literal},"amount_received":${literal},"currency":"${currency}"}`;
  const body = `{"id":"evt_1","type":"payment_intent.succeeded","data":{"object":${object}}}`;
  return readStripeEvent(Buffer.from(body));
}

describe("Stripe's amounts", () => {
  it.each([
    ['EUR 19.99', '1999', 'eur', 1999n],
    ['JPY 500', '500', 'jpy', 500n],
    ['KWD 1.234', '1234', 'kwd', 1234n],
    ['ISK 5, which Stripe counts with two decimals', '500', 'isk', 5n],
    ['UGX 5, which Stripe counts with two decimals', '500', 'ugx', 5n],
    ['MGA 500, which Stripe counts without decimals', '500', 'mga', 50_000n],
    ['HUF 10.50', '1050', 'huf', 1050n],
    ['nothing', '0', 'eur', 0n],
    ['the largest that JSON carries exactly', '9007199254740991', 'eur', 9_007_199_254_740_991n],
  ])('%s is read literally', (_name, literal, currency, amount) => {
    expect(readAmount(literal, currency)).toMatchObject({ verdict: 'take', amount });
  });

  it.each([
    ['a fraction of a krona', '550', 'isk'],
    ['a currency without two decimals that nobody has looked up', '1000', 'clf'],
    ['2^53 + 1', '9007199254740993', 'eur'],
    ['a fraction that JavaScript would round away', '100.00000000000000001', 'eur'],
    ['an exponent', '1e3', 'eur'],
    ['infinity', '1e999', 'eur'],
  ])('%s is held, never rounded', (_name, literal, currency) => {
    const reading = readAmount(literal, currency);
    expect(reading).toMatchObject({ verdict: 'hold', amount: null });
    expect(reading.reason).toContain('exactly');
  });

  it.each([
    [1999n, 'EUR', 1999n],
    [500n, 'JPY', 500n],
    [1234n, 'KWD', 1234n],
    [5n, 'ISK', 500n],
    [5n, 'UGX', 500n],
    [50_000n, 'MGA', 500n],
    [50_050n, 'MGA', null],
    [1n, 'CLF', null],
  ])('%s minor units of %s are %s there', (ours, currency, theirs) => {
    expect(toGatewayAmount(ours, currency, STRIPE_CURRENCIES)).toBe(theirs);
  });

  it('have a last digit of 0 where three decimals are counted', () => {
    expect(isPayableStep(1230n, 'KWD', STRIPE_CURRENCIES)).toBe(true);
    expect(isPayableStep(1234n, 'KWD', STRIPE_CURRENCIES)).toBe(false);
    expect(isPayableStep(1999n, 'EUR', STRIPE_CURRENCIES)).toBe(true);
  });
});

describe.each([
  ['Stripe', STRIPE_CURRENCIES],
  ['Razorpay', RAZORPAY_CURRENCIES],
])('every currency that %s counts in', (_name, currencies) => {
  const codes = [...Object.keys(currencies.exponents), 'EUR', 'USD', 'INR', 'HUF', 'TWD'];

  it('goes there and back exactly, or is refused', () => {
    fc.assert(
      fc.property(fc.constantFrom(...codes), fc.bigInt({ min: 0n, max: 10n ** 15n }), (currency, amount) => {
        const theirs = toGatewayAmount(amount, currency, currencies);
        const ours = toIsoAmount(amount, currency, currencies);
        expect(theirs === null || toIsoAmount(theirs, currency, currencies) === amount).toBe(true);
        expect(ours === null || toGatewayAmount(ours, currency, currencies) === amount).toBe(true);
      }),
    );
  });

  it('keeps its value in major units', () => {
    for (const currency of codes) {
      const exponent = currencies.exponents[currency] ?? 2;
      const sevenMajor = 7n * 10n ** BigInt(exponent);
      expect(toIsoAmount(sevenMajor, currency, currencies)).toBe(7n * 10n ** BigInt(currencyExponent(currency)));
    }
  });
});
