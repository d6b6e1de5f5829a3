import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cancelOrder } from '../../src/database/cancel-order.ts';
import { decideDeadLetter, type Decision } from '../../src/database/decide-dead-letter.ts';
import { giveUpMove } from '../../src/database/give-up-move.ts';
import { readMoneyMove } from '../../src/database/money-move.ts';
import { inTransaction } from '../../src/database/pool.ts';
import { recordRefunds } from '../../src/database/record-refunds.ts';
import { reserveRefund } from '../../src/database/reserve-refund.ts';
import { reserveTopUp } from '../../src/database/reserve-top-up.ts';
import { DEFAULT_POLICIES, type Policies } from '../../src/domain/policies.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { facts, look, refundFacts, seedEvent, seedOrder } from '../support/seed.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
beforeEach(async () => {
  await db.pool
    .query(`truncate wallets, top_ups, wallet_entries, orders, order_lines, order_payments, payments, refunds, gateway_calls, webhook_events,
    processed_events, outbox, dead_letters, bookings, loyalty_entries, gift_cards, packages, invoices, state_transitions,
    ledger_entries cascade`);
});

const row = async (sql: string, ...values: unknown[]): Promise<Record<string, unknown> | undefined> =>
  (await db.pool.query<Record<string, unknown>>(sql, values)).rows[0];
const count = async (sql: string) => (await row(`select count(*)::int as n from ${sql}`))?.['n'];
const decide = (deadLetterId: string, action: Decision['action'], more: Partial<Decision> = {}) =>
  decideDeadLetter(
    db.pool,
    { deadLetterId, action, note: 'as agreed', outcome: null, gatewayId: null, by: 'support', ...more },
    DEFAULT_POLICIES,
  );
const balances = async () =>
  (
    await db.pool.query<{ account: string; balance: bigint }>(
      `select account, sum(case side when 'debit' then amount else -amount end)::bigint as balance from ledger_entries
       group by account having sum(case side when 'debit' then amount else -amount end) <> 0 order by account`,
    )
  ).rows;

/** A paid order with one refund of 30 that the gateway has refused (`rejected`) or not answered (`unknown`). */
async function refundInTrouble(end: 'rejected' | 'unknown'): Promise<string> {
  await seedOrder(db.pool, { id: 'ord_1' });
  await look(db.pool, facts({ paymentId: 'pay_1' }));
  await inTransaction(db.pool, (tx) =>
    reserveRefund(tx, {
      id: 'rf_1',
      source: 'sim',
      paymentId: 'pay_1',
      amount: 3_000n,
      reason: null,
      requestedBy: 'shop',
    }),
  );
  const move = await readMoneyMove(db.pool, 'refund', 'rf_1');
  if (move === null) throw new Error('The refund was reserved.');
  await giveUpMove(db.pool, move, end, { code: 'insufficient_balance', message: 'trouble' });
  return end === 'rejected' ? 'refund_failed:rf_1' : 'outcome_unknown:rf_1';
}

describe('a decision', () => {
  it('is one, whoever decides at the same time, and is kept with who and why', async () => {
    const id = await refundInTrouble('rejected');
    const both = await Promise.all([decide(id, 'retry'), decide(id, 'give_up', { by: 'somebody else' })]);
    expect(both.map(({ result }) => result).toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
      'already_decided',
      'decided',
    ]);
    expect(await decide(id, 'retry')).toEqual({ result: 'already_decided' });
    expect(await row('select status, decision->>$1 as note from dead_letters', 'note')).toEqual({
      status: 'decided',
      note: 'as agreed',
    });
    expect(await count(`state_transitions where machine = 'dead_letter' and detail like '%as agreed'`)).toBe(1);
    expect(await count(`outbox where event_type = 'dead_letter.decided'`)).toBe(1);
  });

  it('is one of the choices of its row, about a row that exists, and leaves everything as it was otherwise', async () => {
    const id = await refundInTrouble('rejected');
    expect(await decide(id, 'accept')).toMatchObject({ result: 'not_possible' });
    expect(await decide(id, 'resolve')).toMatchObject({ result: 'not_possible' });
    expect(await decide('refund_failed:nobody', 'retry')).toEqual({ result: 'not_found' });
    expect(await row('select status, decision from dead_letters')).toEqual({ status: 'open', decision: null });
    expect(await row('select status from refunds')).toEqual({ status: 'needs_review' });
  });
});

describe('about a refund', () => {
  it('that was refused, retry orders a new attempt with a new key', async () => {
    await db.pool.query(`insert into gateway_calls (reference, source) values ('refund:rf_1', 'sim')`);
    expect(await decide(await refundInTrouble('rejected'), 'retry')).toEqual({ result: 'decided' });
    expect(await row('select status, failure_code from refunds')).toEqual({ status: 'pending', failure_code: null });
    expect(await row('select attempt from gateway_calls')).toEqual({ attempt: 2 });
  });

  it('that is unknown, retry keeps key and reference: it is only looked at again', async () => {
    await db.pool.query(`insert into gateway_calls (reference, source) values ('refund:rf_1', 'sim')`);
    expect(await decide(await refundInTrouble('unknown'), 'retry')).toEqual({ result: 'decided' });
    expect(await row('select status from refunds')).toEqual({ status: 'unknown' });
    expect(await row('select attempt from gateway_calls')).toEqual({ attempt: 1 });
  });

  it('that is unknown, giving up frees nothing', async () => {
    await decide(await refundInTrouble('unknown'), 'give_up');
    expect((await readMoneyMove(db.pool, 'refund', 'rf_1'))?.givenUp).toBe(true);
    const more = await inTransaction(db.pool, (tx) =>
      reserveRefund(tx, {
        id: 'rf_2',
        source: 'sim',
        paymentId: 'pay_1',
        amount: 8_000n,
        reason: null,
        requestedBy: 'shop',
      }),
    );
    expect(more).toEqual({ result: 'refund_exceeds_captured', refundable: 7_000n, currency: 'EUR' });
  });

  it('seen to have succeeded moves the money as if the gateway had said so', async () => {
    await decide(await refundInTrouble('unknown'), 'resolve', { outcome: 'succeeded', gatewayId: 're_9' });
    expect(await row('select status, gateway_refund_id from refunds')).toEqual({
      status: 'succeeded',
      gateway_refund_id: 're_9',
    });
    expect(await row('select amount_refunded from orders')).toEqual({ amount_refunded: 3_000n });
    expect(await count(`outbox where event_type = 'refund.succeeded'`)).toBe(1);
  });

  it('seen to have failed frees its amount, and asks nobody again', async () => {
    await decide(await refundInTrouble('unknown'), 'resolve', { outcome: 'failed' });
    expect(await row('select status from refunds')).toEqual({ status: 'failed' });
    expect(await count(`dead_letters where status = 'open'`)).toBe(0);
    const more = await inTransaction(db.pool, (tx) =>
      reserveRefund(tx, {
        id: 'rf_2',
        source: 'sim',
        paymentId: 'pay_1',
        amount: 10_000n,
        reason: null,
        requestedBy: 'shop',
      }),
    );
    expect(more).toEqual({ result: 'reserved', id: 'rf_2' });
  });

  it('that the bank sent back is given once more by a new attempt, and the books hold both ways', async () => {
    await seedOrder(db.pool, { id: 'ord_1' });
    await look(db.pool, facts({ paymentId: 'pay_1' }));
    await inTransaction(db.pool, (tx) =>
      reserveRefund(tx, {
        id: 'rf_1',
        source: 'sim',
        paymentId: 'pay_1',
        amount: null,
        reason: null,
        requestedBy: 'shop',
      }),
    );
    const says = (refundId: string, status: 'succeeded' | 'failed') =>
      recordRefunds(db.pool, {
        ...{
          source: 'sim',
          paymentId: 'pay_1',
          orderId: 'ord_1',
          cause: 'test',
          policies: DEFAULT_POLICIES,
          answered: null,
        },
        facts: [refundFacts({ refundId, status, reference: 'refund:rf_1' })],
      });
    await says('re_1', 'succeeded');
    await says('re_1', 'failed');
    expect(await row('select amount_refunded from orders')).toEqual({ amount_refunded: 0n });
    expect(await decide('refund_failed:rf_1', 'retry')).toEqual({ result: 'decided' });
    // The first attempt's object is no answer to the second.
    await says('re_1', 'failed');
    expect(await row('select status from refunds')).toEqual({ status: 'pending' });
    await says('re_2', 'succeeded');
    expect(await row('select amount_refunded from orders')).toEqual({ amount_refunded: 10_000n });
    expect(await row('select sum(points)::bigint as points from loyalty_entries')).toEqual({ points: 0n });
    expect(await count(`refunds where kind = 'gateway'`)).toBe(0);
    expect(await balances()).toEqual([
      { account: 'sales', balance: -10_000n },
      { account: 'sales_refunds', balance: 10_000n },
    ]);
  });
});

describe('about a payment', () => {
  async function heldPayment(
    shown: Partial<Parameters<typeof facts>[0]>,
    policies: Partial<Policies> = {},
  ): Promise<void> {
    await seedEvent(db.pool, { id: 'evt_1', paymentId: 'pay_1' });
    await look(db.pool, facts({ paymentId: 'pay_1', ...shown }), { policies });
    expect(await row('select state from webhook_events')).toEqual({ state: 'held' });
  }

  it('in another currency, refund gives it back whole', async () => {
    await seedOrder(db.pool, { id: 'ord_1' });
    await heldPayment({ currency: 'USD' });
    expect(await decide('wrong_currency:sim:pay_1', 'accept')).toMatchObject({ result: 'not_possible' });
    expect(await decide('wrong_currency:sim:pay_1', 'refund')).toEqual({ result: 'decided' });
    expect(await row('select kind, status, amount, currency from refunds')).toEqual({
      ...{ kind: 'late_capture', status: 'pending', amount: 10_000n, currency: 'USD' },
    });
    expect(await row('select state, outcome from webhook_events')).toEqual({
      state: 'processed',
      outcome: 'not_payable',
    });
    expect(await count('processed_events')).toBe(1);
    expect(await balances()).toEqual([
      { account: 'gateway_receivable:sim', balance: 10_000n },
      { account: 'refunds_payable', balance: -10_000n },
    ]);
  });

  it('that came late, accept counts it and brings its order back, with every consequence', async () => {
    await seedOrder(db.pool, { id: 'ord_1' });
    await cancelOrder(db.pool, { orderId: 'ord_1', policies: DEFAULT_POLICIES, cause: 'test' });
    await heldPayment({}, { lateCapture: 'review' });
    expect(await decide('late_capture:sim:pay_1', 'accept')).toEqual({ result: 'decided' });
    expect(await row('select status, amount_paid from orders')).toEqual({ status: 'paid', amount_paid: 10_000n });
    expect(await count('bookings')).toBe(1);
    expect(await count('refunds')).toBe(0);
    // A look that follows finds it counted.
    const again = await look(db.pool, facts({ paymentId: 'pay_1' }), {
      callers: ['c'],
      policies: { lateCapture: 'review' },
    });
    expect(again.callerOutcomes['c']).toBe('already_paid_same_payment');
    expect(await balances()).toEqual([
      { account: 'gateway_receivable:sim', balance: 10_000n },
      { account: 'sales', balance: -10_000n },
    ]);
  });

  it('without an order, refund gives it back, and give_up leaves it unallocated with its events ignored', async () => {
    for (const [action, state] of [
      ['refund', 'processed'],
      ['give_up', 'ignored'],
    ] as const) {
      const paymentId = `pay_${action}`;
      await seedEvent(db.pool, { id: `evt_${action}`, paymentId });
      await look(db.pool, facts({ paymentId, orderId: null }));
      expect(await decide(`unmatched_payment:sim:${paymentId}`, action)).toEqual({ result: 'decided' });
      expect(await row('select state from webhook_events where event_id = $1', `evt_${action}`)).toEqual({ state });
    }
    expect(await row('select payment_id, amount, order_id from refunds')).toEqual({
      ...{ payment_id: 'pay_refund', amount: 10_000n, order_id: null },
    });
    expect(await balances()).toEqual([
      { account: 'gateway_receivable:sim', balance: 20_000n },
      { account: 'refunds_payable', balance: -10_000n },
      { account: 'unallocated', balance: -10_000n },
    ]);
  });

  it('that the gateway does not know, nothing can be given back; retry looks again from the beginning', async () => {
    await seedEvent(db.pool, { id: 'evt_1', paymentId: 'pay_1' });
    let at = Date.now();
    for (let looks = 0; looks < 5; looks += 1) {
      const { nextLookMs } = await look(db.pool, { paymentId: 'pay_1', unknown: true }, { at: new Date(at) });
      at += nextLookMs ?? 0;
    }
    expect(await decide('unknown_at_gateway:sim:pay_1', 'refund')).toMatchObject({ result: 'not_possible' });
    expect(await decide('unknown_at_gateway:sim:pay_1', 'retry')).toEqual({ result: 'decided' });
    const seen = await look(db.pool, { paymentId: 'pay_1', unknown: true }, { at: new Date(at) });
    expect(seen).toMatchObject({ pendingEvents: 1, nextLookMs: 5_000 });
  });
});

describe('about a top-up', () => {
  it('in another currency than its wallet, refund gives it back, and no look credits it after all', async () => {
    await inTransaction(db.pool, (tx) =>
      reserveTopUp(tx, {
        ...{ id: 'tu_1', walletId: 'wal_1', source: 'sim', customerId: 'cus_1', paymentMethod: 'pm_1' },
        ...{ amount: 10_000n, currency: 'EUR', requestedBy: 'shop' },
      }),
    );
    const shown = facts({ paymentId: 'pay_1', orderId: null, currency: 'USD', reference: 'top_up:tu_1' });
    await seedEvent(db.pool, { id: 'evt_1', paymentId: 'pay_1' });
    expect(await look(db.pool, shown)).toMatchObject({ outcome: 'held_for_review' });
    expect(await decide('wrong_currency:sim:pay_1', 'refund')).toEqual({ result: 'decided' });
    const refund = { refundId: 're_1', currency: 'USD', reference: 'refund:late_capture:sim:pay_1' };
    await look(db.pool, shown, { callers: ['c'], refunds: [refundFacts(refund)] });
    expect(await row('select status from refunds')).toEqual({ status: 'succeeded' });
    expect(await row('select balance from wallets')).toEqual({ balance: 0n });
    expect(await balances()).toEqual([]);
  });
});

describe('about an event', () => {
  it('that contradicts the gateway, give_up ignores it for good', async () => {
    await seedOrder(db.pool, { id: 'ord_1' });
    await seedEvent(db.pool, { id: 'evt_1', paymentId: 'pay_1', orderId: 'ord_other' });
    await look(db.pool, facts({ paymentId: 'pay_1' }));
    expect(await row('select status from orders')).toEqual({ status: 'pending_payment' });
    expect(await decide('event_unreadable:sim:evt_1', 'give_up')).toEqual({ result: 'decided' });
    expect(await row('select state from webhook_events')).toEqual({ state: 'ignored' });
    expect(await count('processed_events')).toBe(1);
  });
});
