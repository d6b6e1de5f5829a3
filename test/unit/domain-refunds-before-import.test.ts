import { describe, expect, it } from 'vitest';
import { refundsBeforeImport } from '../../src/domain/refunds-before-import.ts';
import { refundFacts } from '../support/seed.ts';

const chosen = (amount: bigint, refunds: readonly (readonly [string, bigint, 'pending' | 'succeeded'])[]) =>
  refundsBeforeImport(
    amount,
    refunds.map(([refundId, of, status]) => refundFacts({ refundId, amount: of, status })),
  ).map(({ refundId }) => refundId);

describe('what had gone back before an import', () => {
  it('is those refunds that add up to it, whichever order they are told in', () => {
    const refunds = [
      ['a', 20n, 'succeeded'],
      ['b', 30n, 'succeeded'],
      ['c', 25n, 'succeeded'],
    ] as const;
    expect(chosen(50n, refunds)).toEqual(['b', 'a']);
    expect(chosen(50n, refunds.toReversed())).toEqual(['b', 'a']);
    expect(chosen(45n, refunds)).toEqual(['c', 'a']);
    expect(chosen(0n, refunds)).toEqual([]);
  });

  it('is as much as fits where none add up, and never one that is not through', () => {
    expect(
      chosen(40n, [
        ['a', 30n, 'succeeded'],
        ['b', 20n, 'succeeded'],
      ]),
    ).toEqual(['a']);
    expect(
      chosen(30n, [
        ['a', 30n, 'pending'],
        ['b', 20n, 'succeeded'],
      ]),
    ).toEqual(['b']);
  });

  it('is found quickly among very many', () => {
    const many = Array.from({ length: 200 }, (_, n) => [`r${n}`, 7n, 'succeeded'] as const);
    expect(chosen(701n, many)).toHaveLength(100);
  });
});
