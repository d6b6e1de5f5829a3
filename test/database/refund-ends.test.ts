import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runAudit } from '../../src/database/audit.ts';
import { decideDeadLetter, type Decision } from '../../src/database/decide-dead-letter.ts';
import { giveUpMove } from '../../src/database/give-up-move.ts';
import { inTransaction } from '../../src/database/pool.ts';
import { recordPayout } from '../../src/database/record-payout.ts';
import { recordRefunds } from '../../src/database/record-refunds.ts';
import { reservePayout } from '../../src/database/reserve-payout.ts';
import { reserveRefund } from '../../src/database/reserve-refund.ts';
import type { RefundFacts } from '../../src/domain/gateway-facts.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { facts, look, refundFacts, seedOrder } from '../support/seed.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
beforeEach(async () => {
  await db.pool
    .query(`truncate orders, order_lines, order_payments, payments, refunds, payouts, gateway_calls, outbox, dead_letters,
    bookings, loyalty_entries, gift_cards, packages, invoices, state_transitions, ledger_entries cascade`);
});

const row = async (sql: string, ...values: unknown[]): Promise<Record<string, unknown> | undefined> =>
  (await db.pool.query<Record<string, unknown>>(sql, values)).rows[0];
const refund = (id: string) => row('select status, amount, failure_code, reference from refunds where id = $1', id);
const letters = async () =>
  (await db.pool.query('select id, status, order_id from dead_letters order by id')).rows as unknown[];
const announced = async (type: string) =>
  (await row('select count(*)::int as n from outbox where event_type = $1', type))?.['n'];
const decide = (deadLetterId: string, action: Decision['action'], outcome: Decision['outcome'] = null) =>
  decideDeadLetter(
    db.pool,
    { deadLetterId, action, note: 'as agreed', outcome, gatewayId: null, by: 'support' },
    DEFAULT_POLICIES,
  );
const shows = (paymentId: string, ...shown: Partial<RefundFacts>[]) =>
  recordRefunds(db.pool, {
    ...{ source: 'sim', paymentId, orderId: 'ord_1', cause: 'test', policies: DEFAULT_POLICIES, answered: null },
    facts: shown.map((fact) => refundFacts({ refundId: 're_1', paymentId, ...fact })),
  });

async function expectCleanAudit(): Promise<void> {
  expect((await runAudit(db.pool)).violations).toEqual([]);
}

/** A paid order with a refund of 40.00 that was asked for. */
async function requested(): Promise<void> {
  await seedOrder(db.pool, { id: 'ord_1' });
  await look(db.pool, facts({ paymentId: 'pay_1' }));
  const asked = { source: 'sim', paymentId: 'pay_1', amount: 4_000n, reason: null, requestedBy: 'shop' };
  await inTransaction(db.pool, (tx) => reserveRefund(tx, { id: 'rf_1', ...asked }));
}
const OURS = { refundId: 're_ours', amount: 4_000n, reference: 'refund:rf_1' };

describe('a second payment that somebody began to give back at the gateway', () => {
  it.each([
    ['whole', 10_000n, 'failed', 'already_refunded'],
    ['in part', 4_000n, 'pending', null],
  ])('%s is before a person when that fails, and goes back by our own refund', async (_how, amount, status, code) => {
    await seedOrder(db.pool, { id: 'ord_1' });
    await look(db.pool, facts({ paymentId: 'pay_1' }));
    const dashboard = refundFacts({ refundId: 're_1', paymentId: 'pay_2', amount, status: 'pending' });
    await look(db.pool, facts({ paymentId: 'pay_2' }), { refunds: [dashboard] });
    expect(await refund('extra_capture:sim:pay_2')).toMatchObject({ status, failure_code: code });
    await shows('pay_2', { amount, status: 'failed' });
    const letter = 'refund_failed:gateway%3Asim%3Are_1';
    expect(await letters()).toEqual([{ id: letter, status: 'open', order_id: 'ord_1' }]);
    await expectCleanAudit();
    expect(await decide(letter, 'retry')).toEqual({ result: 'decided' });
    expect(await refund('gateway:sim:re_1')).toMatchObject({
      ...{ status: 'pending', amount, reference: 'refund:gateway:sim:re_1' },
    });
    await shows(
      'pay_2',
      { amount, status: 'failed' },
      { refundId: 're_2', amount, reference: 'refund:gateway:sim:re_1' },
    );
    expect(await refund('gateway:sim:re_1')).toMatchObject({ status: 'succeeded' });
    await expectCleanAudit();
  });

  it('leaves a promise broken where nobody is asked, and the audit says so', async () => {
    await seedOrder(db.pool, { id: 'ord_1' });
    await look(db.pool, facts({ paymentId: 'pay_1' }));
    const dashboard = refundFacts({ refundId: 're_1', paymentId: 'pay_2', status: 'pending' });
    await look(db.pool, facts({ paymentId: 'pay_2' }), { refunds: [dashboard] });
    await shows('pay_2', { status: 'failed' });
    await db.pool.query('delete from dead_letters');
    const { violations } = await runAudit(db.pool);
    expect(violations.map(({ invariant }) => invariant)).toContain('automatic_refund_is_whole');
  });
});

describe('a refund that was called failed and comes about after all', () => {
  it('has succeeded: by the answer to our own call, after a person had said that it failed', async () => {
    await requested();
    const unknown = { code: 'timeout', message: 'no answer' };
    await giveUpMove(db.pool, { kind: 'refund', id: 'rf_1' }, 'unknown', unknown);
    expect(await decide('outcome_unknown:rf_1', 'resolve', 'failed')).toEqual({ result: 'decided' });
    expect(await refund('rf_1')).toMatchObject({ status: 'failed' });
    await shows('pay_1', OURS);
    expect(await refund('rf_1')).toMatchObject({ status: 'succeeded' });
    expect(await row('select amount_refunded from orders')).toEqual({ amount_refunded: 4_000n });
    expect([await announced('refund.failed'), await announced('refund.succeeded')]).toEqual([1, 1]);
    await expectCleanAudit();
  });

  it('has succeeded by the gateway’s word on the same refund, and nobody is asked any more', async () => {
    await requested();
    await shows('pay_1', { ...OURS, status: 'failed' });
    expect(await letters()).toMatchObject([{ id: 'refund_failed:rf_1', status: 'open' }]);
    await shows('pay_1', OURS);
    expect(await letters()).toMatchObject([{ status: 'recovered' }]);
    expect(await decide('refund_failed:rf_1', 'retry')).toEqual({ result: 'already_decided' });
    await shows('pay_1', { ...OURS, status: 'failed' });
    await shows('pay_1', OURS);
    expect(await refund('rf_1')).toMatchObject({ status: 'failed' });
    expect(await row('select amount_refunded from orders')).toEqual({ amount_refunded: 0n });
    await expectCleanAudit();
  });

  it('counts beside the attempt that a person had ordered meanwhile', async () => {
    await requested();
    await shows('pay_1', { ...OURS, status: 'failed' });
    expect(await decide('refund_failed:rf_1', 'retry')).toEqual({ result: 'decided' });
    await shows('pay_1', { ...OURS, status: 'failed' });
    expect(await refund('rf_1')).toMatchObject({ status: 'pending' });
    await shows('pay_1', OURS);
    expect(await row('select amount_refunded from orders')).toEqual({ amount_refunded: 4_000n });
    expect(await refund('gateway:sim:re_ours')).toMatchObject({ status: 'succeeded', amount: 4_000n });
    await expectCleanAudit();
  });

  it('leaves one alone that the bank sent back: whoever shows it as done is behind', async () => {
    await requested();
    await shows('pay_1', OURS);
    await shows('pay_1', { ...OURS, status: 'failed' });
    await shows('pay_1', OURS);
    expect(await refund('rf_1')).toMatchObject({ status: 'failed' });
    expect(await decide('refund_failed:rf_1', 'retry')).toEqual({ result: 'decided' });
    await shows('pay_1', OURS);
    expect(await row(`select count(*)::int as n from refunds`)).toEqual({ n: 1 });
    await expectCleanAudit();
  });
});

describe('refunds that together are too much', () => {
  it.each(['give_up', 'resolve'] as const)('%s frees what was never sent, once', async (action) => {
    await requested();
    await shows('pay_1', { refundId: 're_theirs', amount: 8_000n });
    const letter = 'refunds_exceed_captured:sim:pay_1';
    expect(await letters()).toEqual([{ id: letter, status: 'open', order_id: 'ord_1' }]);
    expect(await refund('rf_1')).toMatchObject({ status: 'needs_review' });
    await expectCleanAudit();
    expect(await decide(letter, action, action === 'resolve' ? 'failed' : null)).toEqual({ result: 'decided' });
    expect(await refund('rf_1')).toMatchObject({ status: 'failed', failure_code: 'refund_exceeds_captured' });
    expect(await announced('refund.failed')).toBe(1);
    const told = await row(
      `select payload->>'workflow_id' as id from outbox where aggregate_id = 'refund:rf_1' and event_type = 'dead_letter.decided'`,
    );
    expect(told).toEqual({ id: 'refund:rf_1' });
    await expectCleanAudit();
  });
});

it('a refund in another currency than its payment takes nothing back, and a person is asked once', async () => {
  await seedOrder(db.pool, { id: 'ord_1' });
  await look(db.pool, facts({ paymentId: 'pay_1' }));
  const yen = { amount: 10_000n, currency: 'JPY' };
  await shows('pay_1', yen);
  const letter = 'event_unreadable:sim:pay_1:re_1';
  expect(await letters()).toMatchObject([{ id: letter, status: 'open' }]);
  expect(await decide(letter, 'give_up')).toEqual({ result: 'decided' });
  await shows('pay_1', yen);
  expect(await letters()).toMatchObject([{ status: 'decided' }]);
  expect(await row('select count(*)::int as n from refunds')).toEqual({ n: 0 });
  expect(await row('select amount_refunded from orders')).toEqual({ amount_refunded: 0n });
  await expectCleanAudit();
});

describe('a payout', () => {
  const ORDERED = { mode: 'test', source: 'sim', sellerId: 'seller', settlementDate: '2026-11-30' } as const;
  const paid = { payoutId: 'po_1', amount: 10_000n, currency: 'EUR', status: 'paid', failureCode: null } as const;
  let id: string;
  beforeEach(async () => {
    ({ id } = await inTransaction(db.pool, (tx) =>
      reservePayout(tx, { ...ORDERED, amount: 10_000n, currency: 'EUR', destination: 'acct', requestedBy: 'shop' }),
    ));
  });
  const told = (over: Partial<Parameters<typeof recordPayout>[2]> = {}) =>
    recordPayout(db.pool, id, { ...paid, reference: `payout:${id}`, ...over }, { cause: 'test', answered: false });
  const status = async () => (await row('select status from payouts'))?.['status'];

  it.each([
    ['amount', { amount: 10n }],
    ['currency', { currency: 'USD' }],
  ])('of another %s than was ordered is nobody’s success', async (_what, other) => {
    await told(other);
    expect(await status()).toBe('pending');
    expect(await letters()).toMatchObject([{ status: 'open' }]);
    expect(await announced('payout.paid')).toBe(0);
    await expectCleanAudit();
  });

  it('that a person called failed and that arrives all the same is paid', async () => {
    await giveUpMove(db.pool, { kind: 'payout', id }, 'unknown', { code: 'timeout', message: 'no answer' });
    const [letter] = (await letters()) as { id: string }[];
    expect(await decide(letter?.id ?? '', 'resolve', 'failed')).toEqual({ result: 'decided' });
    await told();
    expect(await status()).toBe('succeeded');
    expect(await announced('payout.paid')).toBe(1);
    await told({ status: 'failed' });
    await told();
    expect(await status()).toBe('failed');
    await expectCleanAudit();
  });
});
