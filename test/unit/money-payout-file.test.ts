import { describe, expect, it } from 'vitest';
import { BadFile } from '../../src/cli/file/read-rows.ts';
import { readTable } from '../../src/cli/file/read-table.ts';
import { readPayouts } from '../../src/cli/payouts/read-payouts.ts';

const run = { source: 'sim', date: '2026-11-30' };
const payout = (seller_id: string, over: object = {}) => ({
  ...{ source: 'sim', seller_id, settlement_date: '2026-11-30', amount: 100, currency: 'EUR', destination: 'acct_1' },
  ...over,
});

function mistakes(text: string, name = 'payouts.csv', when = run): readonly string[] {
  try {
    readPayouts(text, name, when);
  } catch (error) {
    if (error instanceof BadFile) return error.mistakes;
    throw error;
  }
  return [];
}

describe('a table', () => {
  it.each([
    [
      'a,b\nc,d',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      '\ufeffa,b\r\nc,d\r\n',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      'a,"b, ""c""\nd"\ne,f\n',
      [
        ['a', 'b, "c"\nd'],
        ['e', 'f'],
      ],
    ],
    [
      'a,b,\n\n,,\nc,',
      [
        ['a', 'b', ''],
        ['c', ''],
      ],
    ],
    ['', []],
  ])('is read as spreadsheets write it: %j', (text, rows) => {
    expect(readTable(text).map(({ cells }) => cells)).toEqual(rows);
  });

  it('knows where each row begins', () => {
    expect(readTable('a\n"b\nc"\n\nd').map(({ line }) => line)).toEqual([1, 2, 5]);
  });

  it.each(['a,"b\nc', 'a,b"c', 'a,"b"c'])('with a stray quote is refused: %j', (text) => {
    expect(() => readTable(text)).toThrow(/^line 1: a quote/);
  });
});

describe('a file of payouts', () => {
  it('may be CSV, its columns in any order', () => {
    const text = 'amount,destination,seller_id,currency\n100,acct_1, s1 ,EUR\n250,"acct, 2",s2,JPY\n';
    expect(readPayouts(text, 'Payouts.CSV', run)).toEqual([
      payout('s1'),
      payout('s2', { amount: 250, currency: 'JPY', destination: 'acct, 2' }),
    ]);
  });

  it('may be a JSON list', () => {
    const { source: _, settlement_date: __, ...fields } = payout('s1');
    expect(readPayouts(JSON.stringify([fields]), 'payouts.json', run)).toEqual([payout('s1')]);
  });

  it('has all its mistakes named at once, each with its place', () => {
    const text = [
      'seller_id,amount,currency,destination',
      's1,100,EUR,acct_1',
      's2,1.50,EUR,acct_1',
      's1,100,EUR,acct_1',
      's3,0,Euro,',
      's4,9007199254740993,EUR,acct_1,surplus',
    ].join('\n');
    expect(mistakes(text)).toEqual([
      expect.stringMatching(/^line 3: amount must be a whole number/),
      'line 4: seller_id is that of line 2; a seller has one payout a day',
      expect.stringMatching(/^line 5: amount must be at least 1/),
      expect.stringMatching(/^line 5: currency must be an ISO 4217/),
      expect.stringMatching(/^line 5: destination must be text/),
      expect.stringMatching(/^line 6: amount must be a whole number/),
      'line 6: more cells than columns is not a field of this request',
    ]);
  });

  it.each([
    ['seller_id,amount,currency\ns1,1,EUR', 'payouts.csv', 'line 1: the column destination is missing'],
    ['seller_id,amount,currency,destination,date\n', 'payouts.csv', 'line 1: there is no column date'],
    ['seller_id,amount,currency,destination\n', 'payouts.csv', 'the file has no payouts'],
    ['', 'payouts.csv', 'line 1: the column seller_id is missing'],
    ['[]', 'payouts.json', 'the file has no payouts'],
    ['{}', 'payouts.json', 'the file must hold a list of payouts'],
    ['nonsense', 'payouts.json', 'the file is not JSON'],
    [
      '[{"amount": 100.00000000000000001}]',
      'payouts.json',
      expect.stringMatching(/^\[0\]\.amount must be a whole number/),
    ],
    ['[7]', 'payouts.json', 'payout 1: seller_id is missing'],
  ])('that is none is refused: %j', (text, name, mistake) => {
    expect(mistakes(text, name)).toContainEqual(mistake);
  });

  it('for a day that no calendar has is refused', () => {
    const text = 'seller_id,amount,currency,destination\ns1,1,EUR,acct_1';
    expect(mistakes(text, 'payouts.csv', { ...run, date: '2026-02-30' })).toEqual([
      'line 2: settlement_date must be a day, such as 2026-12-01',
    ]);
  });
});
