import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CUSTOMER_DEPOSITS,
  gatewayAccount,
  ledgerLines,
  REFUNDS_PAYABLE,
  SALES,
  splitRefund,
  UNALLOCATED,
} from '../../src/domain/ledger.ts';

const ACCOUNTS = [
  gatewayAccount('sim'),
  gatewayAccount('other'),
  CUSTOMER_DEPOSITS,
  SALES,
  REFUNDS_PAYABLE,
  UNALLOCATED,
];
const transfers = fc.array(
  fc.record({
    debit: fc.constantFrom(...ACCOUNTS),
    credit: fc.constantFrom(...ACCOUNTS),
    amount: fc.oneof(fc.constant(0n), fc.bigInt({ min: 1n, max: 10n ** 15n })),
  }),
  { maxLength: 12 },
);
const posting = transfers.map((list) => ({ key: 'captured:sim:pay_1', currency: 'EUR', transfers: list }));
const total = (amounts: readonly bigint[]) => amounts.reduce((sum, amount) => sum + amount, 0n);

describe('the lines of a posting', () => {
  it('are balanced, whatever is transferred', () => {
    fc.assert(
      fc.property(posting, (p) => {
        const lines = ledgerLines(p);
        const side = (name: string) => total(lines.filter((l) => l.side === name).map((l) => l.amount));
        expect(side('debit')).toBe(side('credit'));
        expect(side('debit')).toBe(total(p.transfers.map((t) => t.amount)));
      }),
    );
  });

  it('hold one line for an account and side, and none of zero', () => {
    fc.assert(
      fc.property(posting, (p) => {
        const lines = ledgerLines(p);
        expect(new Set(lines.map((l) => `${l.side} ${l.account}`)).size).toBe(lines.length);
        expect(lines.every((l) => l.amount > 0n)).toBe(true);
      }),
    );
  });

  it('move on each account what the transfers move', () => {
    fc.assert(
      fc.property(posting, fc.constantFrom(...ACCOUNTS), (p, account) => {
        const lines = ledgerLines(p).filter((l) => l.account === account);
        const balance = total(lines.map((l) => (l.side === 'debit' ? l.amount : -l.amount)));
        const debits = total(p.transfers.filter((t) => t.debit === account).map((t) => t.amount));
        const credits = total(p.transfers.filter((t) => t.credit === account).map((t) => t.amount));
        expect(balance).toBe(debits - credits);
      }),
    );
  });
});

describe('a refund of counted money', () => {
  const surplus = fc.bigInt({ min: 0n, max: 5_000n });
  const refunds = fc.array(fc.bigInt({ min: 1n, max: 4_000n }), { maxLength: 8 });

  const splitAll = (extra: bigint, amounts: readonly bigint[]) => {
    let before = 0n;
    return amounts.map((amount) => {
      const split = splitRefund(extra, before, amount);
      before += amount;
      return split;
    });
  };

  it('splits without a remainder, and neither part is negative', () => {
    fc.assert(
      fc.property(surplus, refunds, (extra, amounts) => {
        splitAll(extra, amounts).forEach((split, i) => {
          expect(split.surplus + split.sale).toBe(amounts[i]);
          expect(split.surplus >= 0n && split.sale >= 0n).toBe(true);
        });
      }),
    );
  });

  it('gives the surplus back first, and calls a returned sale what goes beyond: exactly, in any order of the refunds', () => {
    const shuffled = refunds.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    );
    fc.assert(
      fc.property(surplus, shuffled, (extra, orders) => {
        for (const amounts of orders) {
          const splits = splitAll(extra, amounts);
          const sum = total(amounts);
          expect(total(splits.map((s) => s.surplus))).toBe(sum < extra ? sum : extra);
          expect(total(splits.map((s) => s.sale))).toBe(sum > extra ? sum - extra : 0n);
          // Never a returned sale while surplus is left.
          const firstSale = splits.findIndex((s) => s.sale > 0n);
          if (firstSale !== -1) expect(splits.slice(firstSale + 1).every((s) => s.surplus === 0n)).toBe(true);
        }
      }),
    );
  });

  it('that the bank returns takes back just what it moved', () => {
    fc.assert(
      fc.property(surplus, refunds, fc.bigInt({ min: 1n, max: 4_000n }), (extra, before, amount) => {
        const standing = total(before);
        const there = splitRefund(extra, standing, amount);
        const back = splitRefund(extra, standing + amount - amount, amount);
        expect(back).toEqual(there);
      }),
    );
  });

  it.each([
    [0n, 0n, 1_000n, { surplus: 0n, sale: 1_000n }],
    [300n, 0n, 200n, { surplus: 200n, sale: 0n }],
    [300n, 200n, 500n, { surplus: 100n, sale: 400n }],
    [300n, 300n, 500n, { surplus: 0n, sale: 500n }],
  ])(
    'with a surplus of %s and %s refunded before, of %s, splits as counted by hand',
    (extra, before, amount, split) => {
      expect(splitRefund(extra, before, amount)).toEqual(split);
    },
  );
});
