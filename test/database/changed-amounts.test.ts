import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { decideDeadLetter } from '../../src/database/decide-dead-letter.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import type { PaymentFacts } from '../../src/domain/gateway-facts.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { facts, look, refundFacts, seedEvent, seedOrder } from '../support/seed.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
beforeEach(async () => {
  await db.pool
    .query(`truncate orders, order_lines, order_payments, payments, refunds, webhook_events, processed_events, top_ups, wallets,
    wallet_entries, outbox, dead_letters, alerts, bookings, loyalty_entries, invoices, state_transitions, ledger_entries cascade`);
  await seedOrder(db.pool, { id: 'ord_1' });
});

const rows = async (sql: string) => (await db.pool.query(sql)).rows;
const LETTER = 'event_unreadable:sim:pay_1';
let events = 0;

/** An event comes, and the gateway shows this. */
async function told(shown: Partial<PaymentFacts>, type = 'payment.captured') {
  events += 1;
  await seedEvent(db.pool, { id: `evt_${events}`, paymentId: 'pay_1', type });
  return look(db.pool, facts({ paymentId: 'pay_1', ...shown }));
}
const letters = () => rows('select id, status, amount, currency, last_error from dead_letters order by id');
const states = async () =>
  (await rows('select state from webhook_events order by received_at, event_id')).map((e) => e.state);
const decide = (action: 'retry' | 'give_up') =>
  decideDeadLetter(
    db.pool,
    { deadLetterId: LETTER, action, note: 'seen', outcome: null, gatewayId: null, by: 'support' },
    DEFAULT_POLICIES,
  );

const OTHERS = [
  ['more', { amount: 50_000n }, '500.00 EUR'],
  ['less', { amount: 4_000n }, '40.00 EUR'],
  ['another currency', { currency: 'USD' }, '100.00 USD'],
] as const;

describe('a captured payment of which the gateway shows otherwise than was decided', () => {
  it.each(OTHERS)('%s: goes before a person with both amounts, and what was decided stands', async (_, shown, text) => {
    await told({});
    const seen = await told(shown);
    expect(seen).toMatchObject({ outcome: 'marked_paid', needsHuman: true, nextLookMs: null, pendingEvents: 0 });
    expect(await letters()).toEqual([
      {
        ...{ id: LETTER, status: 'open', amount: 10_000n, currency: 'EUR', ...shown },
        last_error: expect.stringContaining(`capture of 100.00 EUR when it was decided, and shows ${text} now`),
      },
    ]);
    expect(await states()).toEqual(['processed', 'held']);
    expect(await rows('select status, amount_paid from orders')).toEqual([{ status: 'paid', amount_paid: 10_000n }]);
    expect(await rows('select amount, currency from payments')).toEqual([{ amount: 10_000n, currency: 'EUR' }]);

    await told({});
    expect(await states()).toEqual(['processed', 'processed', 'processed']);
    expect(await letters()).toMatchObject([{ status: 'recovered' }]);
  });

  it('is a question without any event, and is looked at again when a person says so', async () => {
    await told({});
    await look(db.pool, facts({ paymentId: 'pay_1', amount: 50_000n }), { callers: ['browser'] });
    expect(await letters()).toMatchObject([{ status: 'open' }]);
    expect(await decide('retry')).toEqual({ result: 'decided' });
    await look(db.pool, facts({ paymentId: 'pay_1', amount: 50_000n }));
    expect(await letters()).toMatchObject([{ status: 'open' }]);
    expect(await decide('retry')).toEqual({ result: 'decided' });
    await look(db.pool, facts({ paymentId: 'pay_1' }));
    expect(await letters()).toMatchObject([{ status: 'decided' }]);
    expect(await states()).toEqual(['processed']);
  });

  it('held with all its events is tried again with all of them', async () => {
    await told({});
    await told({ amount: 50_000n });
    await told({ amount: 50_000n });
    expect(await decide('retry')).toEqual({ result: 'decided' });
    await look(db.pool, facts({ paymentId: 'pay_1' }));
    expect(await states()).toEqual(['processed', 'processed', 'processed']);
  });

  it('and given up is not asked about for that amount again, and is for the next', async () => {
    await told({});
    await told({ amount: 50_000n });
    expect(await decide('give_up')).toEqual({ result: 'decided' });
    expect(await states()).toEqual(['processed', 'ignored']);
    expect(await told({ amount: 50_000n })).toMatchObject({ needsHuman: false });
    expect(await letters()).toMatchObject([{ status: 'decided' }]);
    expect(await states()).toEqual(['processed', 'ignored', 'processed']);
    await told({ amount: 60_000n });
    expect(await letters()).toMatchObject([{ status: 'open', amount: 60_000n }]);
  });

  it('is a question about the amount that is shown last', async () => {
    await told({});
    await told({ amount: 50_000n });
    await told({ amount: 4_000n });
    expect(await letters()).toMatchObject([
      { amount: 4_000n, last_error: expect.stringContaining('shows 40.00 EUR now') },
    ]);
  });
});

describe('no question is', () => {
  it.each([
    ['that less was captured than was authorised', { status: 'authorized' }, { amount: 6_000n }],
    ['that part of it went back', {}, { amountRefunded: 4_000n }],
    ['that a late look shows less of the payment', {}, { status: 'pending', amount: 4_000n }],
    ['that the gateway does not tell the amount any more', {}, { amount: null }],
  ] as const)('%s', async (_, first, then) => {
    await told(first, 'status' in first ? 'payment.authorized' : 'payment.captured');
    const refunds = [refundFacts({ refundId: 're_1', paymentId: 'pay_1', amount: 4_000n })];
    events += 1;
    await seedEvent(db.pool, { id: `evt_${events}`, paymentId: 'pay_1', type: 'payment.pending' });
    await look(db.pool, facts({ paymentId: 'pay_1', ...then }), { refunds: 'amountRefunded' in then ? refunds : null });
    expect(await rows(`select id from dead_letters where kind = 'event_unreadable'`)).toEqual([]);
    expect((await states()).filter((state) => state === 'held')).toEqual([]);
  });
});

describe('the order in which it is told and shown', () => {
  const FIRST_SHOWN = [{ amount: 10_000n }, { amount: 50_000n }];
  it.each([FIRST_SHOWN, FIRST_SHOWN.toReversed()])(
    'decides nothing but what counts: %o, then %o',
    async (first, second) => {
      await told(first);
      await told(second);
      expect(await rows('select amount from payments')).toEqual([first]);
      expect(await letters()).toMatchObject([{ id: LETTER, status: 'open', amount: second.amount }]);
      await told(first);
      expect(await letters()).toMatchObject([{ status: 'recovered' }]);
    },
  );
});

it('a top-up of which the gateway shows another amount is a question too, and fills its wallet once', async () => {
  await db.pool.query(`insert into wallets (id, customer_id, currency) values ('wal_1', 'cus_1', 'EUR')`);
  await db.pool.query(
    `insert into top_ups (id, wallet_id, customer_id, source, amount, currency, payment_method, status, reference, requested_by)
     values ('top_1', 'wal_1', 'cus_1', 'sim', 10000, 'EUR', 'pm_1', 'pending', 'top_up:top_1', 'test')`,
  );
  const mine = { reference: 'top_up:top_1', orderId: null };
  await told(mine);
  expect(await told({ ...mine, amount: 50_000n })).toMatchObject({ needsHuman: true });
  expect(await letters()).toMatchObject([{ id: LETTER, status: 'open', amount: 50_000n }]);
  expect(await states()).toEqual(['processed', 'held']);
  expect(await rows('select balance from wallets')).toEqual([{ balance: 10_000n }]);
  await told(mine);
  expect(await letters()).toMatchObject([{ status: 'recovered' }]);
  expect(await states()).toEqual(['processed', 'processed', 'processed']);
});
