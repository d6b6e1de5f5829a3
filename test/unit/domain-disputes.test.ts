import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { disputeFeeTransfers, disputeTransfers, type DisputedMoney } from '../../src/domain/dispute-postings.ts';
import {
  DISPUTE_CURRENCIES_DIFFER,
  DISPUTE_LACKS_AMOUNT,
  disputeStanding,
  type DisputeReport,
} from '../../src/domain/dispute-standing.ts';
import { disputeKey, disputePostingKey } from '../../src/domain/keys.ts';
import { ledgerLines, type Transfer } from '../../src/domain/ledger.ts';
import { moneyKept } from '../../src/domain/money-kept.ts';
import { weighDisputeEvent } from '../../src/domain/weigh-event.ts';

const status = fc.constantFrom('opened' as const, 'won' as const, 'lost' as const);
const report: fc.Arbitrary<DisputeReport> = fc.record({
  status,
  amount: fc.option(fc.bigInt({ min: 0n, max: 3n })),
  currency: fc.constant('EUR'),
  fee: fc.option(fc.bigInt({ min: 0n, max: 3n })),
  feeCurrency: fc.constant(null),
  at: fc.option(fc.nat(3)),
});
const reports = fc.array(report, { minLength: 1, maxLength: 6 });
const said = (more: Partial<DisputeReport>): DisputeReport => ({
  ...{ status: 'opened', amount: 100n, currency: 'EUR', fee: null, feeCurrency: null, at: 1, ...more },
});

describe('what all reports of a dispute come to', () => {
  it('is the same in every order of them, however often each is told', () => {
    const told = reports.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray([...list, ...list], { minLength: list.length * 2 })),
    );
    fc.assert(
      fc.property(told, ([list, other]) => {
        expect(disputeStanding(other)).toEqual(disputeStanding(list));
      }),
    );
  });

  it('is closed once one of them says so, and then as the latest of those says', () => {
    fc.assert(
      fc.property(reports, (list) => {
        const standing = disputeStanding([said({ at: null }), ...list]);
        if (typeof standing === 'string') throw new Error(standing);
        const ends = list.filter((one) => one.status !== 'opened');
        const last = Math.max(...ends.map((one) => one.at ?? -1));
        const among = ends.filter((one) => (one.at ?? -1) === last).map((one) => one.status);
        expect(standing.status).toBe(among.length === 0 ? 'opened' : among.includes('lost') ? 'lost' : 'won');
      }),
    );
  });

  it('has an amount above zero, or a sentence that none was told', () => {
    fc.assert(
      fc.property(reports, (list) => {
        const standing = disputeStanding(list);
        if (list.some(({ amount }) => amount !== null && amount > 0n)) {
          expect(standing).toMatchObject({ currency: 'EUR' });
          expect((standing as { amount: bigint }).amount).toBeGreaterThan(0n);
        } else expect(standing).toBe(DISPUTE_LACKS_AMOUNT);
      }),
    );
  });

  it('is nothing that can be booked where the currencies differ', () => {
    expect(disputeStanding([said({}), said({ currency: 'USD' })])).toBe(DISPUTE_CURRENCIES_DIFFER);
    expect(disputeStanding([said({ fee: 1n }), said({ fee: 1n, feeCurrency: 'USD' })])).toBe(DISPUTE_CURRENCIES_DIFFER);
    expect(disputeStanding([said({}), said({ currency: null, amount: null, status: 'won' })])).toMatchObject({
      ...{ status: 'won', amount: 100n, currency: 'EUR' },
    });
  });
});

describe('what a dispute moves in the books', () => {
  const money: fc.Arbitrary<DisputedMoney> = fc.record({
    ...{ status, withheld: fc.boolean() },
    amount: fc.bigInt({ min: 1n, max: 9n }),
  });
  const sumOf = (transfers: readonly Transfer[], account: string) =>
    ledgerLines({ key: 'k', currency: 'EUR', transfers }).reduce(
      (sum, line) => (line.account !== account ? sum : sum + (line.side === 'debit' ? line.amount : -line.amount)),
      0n,
    );

  it('adds up to where it stands, whatever lay between', () => {
    fc.assert(
      fc.property(fc.array(money, { minLength: 1, maxLength: 6 }), (path) => {
        const moved = path.flatMap((after, at) => disputeTransfers(path[at - 1] ?? null, after, 'gateway'));
        const end = path.at(-1);
        expect(sumOf(moved, 'disputed_funds')).toBe(end?.status === 'opened' && end.withheld ? end.amount : 0n);
        expect(sumOf(moved, 'chargeback_losses')).toBe(end?.status === 'lost' ? end.amount : 0n);
      }),
    );
  });

  it('goes from what was withheld to the losses at once, and back to the gateway when it is won', () => {
    const lines = (from: DisputedMoney['status'] | null, to: DisputedMoney['status'], withheld = true) =>
      ledgerLines({
        ...{ key: 'k', currency: 'EUR' },
        transfers: disputeTransfers(
          from && { status: from, amount: 5n, withheld },
          { status: to, amount: 5n, withheld },
          'gateway',
        ),
      }).map(({ account, side }) => `${side} ${account}`);
    expect(lines(null, 'opened')).toEqual(['debit disputed_funds', 'credit gateway']);
    expect(lines('opened', 'lost')).toEqual(['debit chargeback_losses', 'credit disputed_funds']);
    expect(lines('opened', 'won')).toEqual(['debit gateway', 'credit disputed_funds']);
    expect(lines(null, 'opened', false)).toEqual([]);
    expect(lines('opened', 'won', false)).toEqual([]);
    expect(lines('opened', 'lost', false)).toEqual(['debit chargeback_losses', 'credit gateway']);
    expect(lines('won', 'lost')).toEqual(['debit chargeback_losses', 'credit gateway']);
    expect(disputeFeeTransfers(15n, 0n, 'gateway')).toEqual([
      { debit: 'gateway', credit: 'dispute_fees', amount: 15n },
    ]);
  });
});

it('an event about a dispute claims more only where none is shown, or an end that is not shown yet', () => {
  expect(weighDisputeEvent('opened', null)).toBe('claims_more');
  expect(weighDisputeEvent('lost', 'opened')).toBe('claims_more');
  expect(weighDisputeEvent('opened', 'won')).toBe('old_news');
  expect(weighDisputeEvent('lost', 'won')).toBe('old_news');
  for (const shown of ['opened', 'won', 'lost'] as const) {
    expect(weighDisputeEvent(shown, shown)).toBe('exact');
    expect(weighDisputeEvent(null, shown)).toBe('exact');
  }
});

it('two disputes, or two repeats of one, never share a key', () => {
  const ids = [disputeKey('sim', 'a:b'), disputeKey('sim:a', 'b')];
  const postings = [
    disputePostingKey('lost', 'sim', 'dp', 1),
    disputePostingKey('lost', 'sim', 'dp#2'),
    disputePostingKey('lost', 'sim', 'dp'),
    disputePostingKey('won', 'sim', 'dp'),
  ];
  expect(new Set([...ids, ...postings]).size).toBe(6);
});

it('money kept is what refunds and lost disputes left, never below zero', () => {
  expect(moneyKept({ amountPaid: 10n, amountRefunded: 3n, amountChargedBack: 4n })).toBe(3n);
  expect(moneyKept({ amountPaid: 10n, amountRefunded: 10n, amountChargedBack: 10n })).toBe(0n);
});
