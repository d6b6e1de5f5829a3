import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loyaltyPointsStanding } from '../../src/domain/loyalty.ts';

const EXPONENT = { JPY: 0, EUR: 2, KWD: 3 } as const;
const currency = fc.constantFrom('JPY' as const, 'EUR' as const, 'KWD' as const);
const amount = fc.oneof(fc.bigInt({ min: 0n, max: 30_000n }), fc.bigInt({ min: 0n, max: 9_007_199_254_740_991n }));

/** A rate as a merchant writes it: `12.0375`. */
const rate = fc
  .tuple(fc.nat(1_000), fc.integer({ min: 0, max: 6 }), fc.nat(999_999))
  .map(([whole, digits, fraction]) => ({ whole, fraction: String(fraction).padStart(6, '0').slice(0, digits) }))
  .map(({ whole, fraction }) => (fraction === '' ? String(whole) : `${whole}.${fraction}`));

/** floor(rate × min(due, max(0, paid − refunded)) in major units), in integers from the digits of the rate. */
function reference(b: {
  currency: keyof typeof EXPONENT;
  due: bigint;
  paid: bigint;
  refunded: bigint;
  rate: string;
}): bigint {
  const [whole = '', fraction = ''] = b.rate.split('.');
  const kept = b.paid - b.refunded < 0n ? 0n : b.paid - b.refunded;
  const rewarded = kept > b.due ? b.due : kept;
  return (BigInt(whole + fraction) * rewarded) / 10n ** BigInt(fraction.length + EXPONENT[b.currency]);
}

const standing = (b: { currency: string; due: bigint; paid: bigint; refunded: bigint; rate: string | number }) =>
  loyaltyPointsStanding({
    ...{ currency: b.currency, amountDue: b.due, amountPaid: b.paid, amountRefunded: b.refunded },
    amountChargedBack: 0n,
    rate: Number(b.rate),
  });

describe('the loyalty points that stand', () => {
  it('are the floor of the rate times the money kept, to the point, in JPY, EUR and KWD and for rates with fractions', () => {
    fc.assert(
      fc.property(fc.record({ currency, due: amount, paid: amount, refunded: amount, rate }), (basis) => {
        expect(standing(basis)).toBe(reference(basis));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['EUR', 10_000n, 1, 100n],
    ['EUR', 4_999n, 1, 49n],
    ['EUR', 10_000n, 0.1, 10n],
    ['EUR', 30_000n, 0.29, 87n],
    ['JPY', 500n, 1, 500n],
    ['JPY', 3n, 0.3, 0n],
    ['KWD', 12_345n, 1, 12n],
    ['KWD', 10_000n, 1.1, 11n],
    ['EUR', 10_000n, 0, 0n],
  ])('for %s %s at %s a major unit are %s', (code, paid, pointsPerUnit, points) => {
    expect(standing({ currency: code, due: paid, paid, refunded: 0n, rate: pointsPerUnit })).toBe(points);
  });

  it('reward nothing beyond what was due, and fall below zero never', () => {
    const basis = { currency: 'EUR', due: 10_000n, rate: 1 };
    expect(standing({ ...basis, paid: 12_000n, refunded: 0n })).toBe(100n);
    expect(standing({ ...basis, paid: 12_000n, refunded: 2_000n })).toBe(100n);
    expect(standing({ ...basis, paid: 12_000n, refunded: 2_100n })).toBe(99n);
    expect(standing({ ...basis, paid: 12_000n, refunded: 12_000n })).toBe(0n);
    expect(standing({ ...basis, paid: 12_000n, refunded: 13_000n })).toBe(0n);
  });

  it('are the sum of the differences that refunds write, whatever their order, and none are left after the last', () => {
    const story = fc
      .record({
        currency,
        rate,
        due: fc.bigInt({ min: 1n, max: 100_000n }),
        surplus: fc.bigInt({ min: 0n, max: 999n }),
      })
      .chain((order) =>
        fc
          .array(fc.bigInt({ min: 1n, max: 40_000n }), { maxLength: 6 })
          .chain((refunds) => fc.shuffledSubarray(refunds, { minLength: refunds.length }))
          .map((refunds) => ({ ...order, refunds })),
      );
    fc.assert(
      fc.property(story, ({ due, surplus, refunds, ...rest }) => {
        const paid = due + surplus;
        const basis = { ...rest, due, paid };
        const entries = [standing({ ...basis, refunded: 0n })];
        const sum = () => entries.reduce((total, entry) => total + entry, 0n);
        let refunded = 0n;
        const total = refunds.reduce((all, part) => all + part, 0n);
        for (const part of total > paid ? [paid] : [...refunds, paid - total]) {
          refunded += part;
          const entry = standing({ ...basis, refunded }) - sum();
          expect(entry).toBeLessThanOrEqual(0n);
          entries.push(entry);
        }
        expect(refunded).toBe(paid);
        expect(sum()).toBe(0n);
      }),
    );
  });
});
