import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { currencyExponent, formatMoney, MAX_JSON_AMOUNT } from '../../src/domain/money.ts';

describe('money for people', () => {
  it.each([
    [4_990n, 'EUR', '49.90 EUR'],
    [5n, 'EUR', '0.05 EUR'],
    [0n, 'EUR', '0.00 EUR'],
    [-5n, 'EUR', '-0.05 EUR'],
    [-12_345n, 'USD', '-123.45 USD'],
    [500n, 'JPY', '500 JPY'],
    [0n, 'JPY', '0 JPY'],
    [-1n, 'JPY', '-1 JPY'],
    [1n, 'KWD', '0.001 KWD'],
    [12_345n, 'KWD', '12.345 KWD'],
    [12_345n, 'CLF', '1.2345 CLF'],
    [9_007_199_254_740_993n, 'EUR', '90071992547409.93 EUR'],
  ])('%s minor units of %s read %s', (amount, currency, text) => {
    expect(formatMoney({ amount, currency })).toBe(text);
  });

  it('reads back to the same minor units', () => {
    const currency = fc.constantFrom('EUR', 'USD', 'INR', 'JPY', 'KRW', 'KWD', 'BHD', 'CLF');
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), currency, (amount, code) => {
        const text = formatMoney({ amount, currency: code });
        const digits = currencyExponent(code);
        const pattern = digits === 0 ? /^-?\d+ [A-Z]{3}$/ : new RegExp(`^-?\\d+\\.\\d{${digits}} [A-Z]{3}$`);
        expect(text).toMatch(pattern);
        expect(BigInt(text.replace(/[^\d-]/g, ''))).toBe(amount);
        expect(text).not.toMatch(/^-?0\d/);
      }),
    );
  });
});

describe('a currency', () => {
  it('has the exponent that ISO 4217 gives it, and two where it gives none of its own', () => {
    const zero = 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(' ');
    expect(zero.map(currencyExponent)).toEqual(zero.map(() => 0));
    const three = 'BHD IQD JOD KWD LYD OMR TND'.split(' ');
    expect(three.map(currencyExponent)).toEqual(three.map(() => 3));
    expect(['CLF', 'UYW'].map(currencyExponent)).toEqual([4, 4]);
    expect(['EUR', 'USD', 'INR', 'GBP', 'CHF', 'MGA', 'HUF'].map(currencyExponent)).toEqual([2, 2, 2, 2, 2, 2, 2]);
  });
});

describe('an amount in JSON', () => {
  it('is exact up to the largest that is taken', () => {
    expect(MAX_JSON_AMOUNT).toBe(2n ** 53n - 1n);
    expect(BigInt(JSON.parse(String(MAX_JSON_AMOUNT)) as number)).toBe(MAX_JSON_AMOUNT);
  });
});
