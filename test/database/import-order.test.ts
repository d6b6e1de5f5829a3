import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runAudit } from '../../src/database/audit.ts';
import { importOrder, type OrderToImport } from '../../src/database/import-order.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { dumpEffects } from '../support/effects.ts';
import { facts, look, refundFacts, seedEvent } from '../support/seed.ts';
import { refundIs, seedRefund } from '../support/seed-storm-of-moves.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
beforeEach(async () => {
  await db.pool.query(`truncate orders, order_lines, order_payments, payments, refunds, gateway_calls, webhook_events,
    webhook_deliveries, processed_events, outbox, dead_letters, bookings, loyalty_entries, gift_cards, packages, invoices,
    state_transitions, ledger_entries cascade`);
});
afterEach(async () => {
  // Seeded events were never delivered.
  const { violations } = await runAudit(db.pool);
  expect(violations.filter(({ invariant }) => invariant !== 'event_was_delivered')).toEqual([]);
});

const order = (more: Partial<OrderToImport> = {}): OrderToImport => ({
  ...{ id: 'ord_1', currency: 'EUR', amount: 10_000n, source: 'sim', paymentId: 'pay_1', amountRefunded: 0n },
  customer: { id: 'cus_1', email: 'someone@example.com', name: null },
  paidAt: new Date('2025-03-01T12:00:00Z'),
  ...more,
});
const take = (more: Partial<OrderToImport> = {}, dryRun = false) =>
  importOrder(db.pool, order(more), { by: 'ops', dryRun });
const row = async (sql: string) => (await db.pool.query<Record<string, unknown>>(sql)).rows[0];
const count = async (from: string) => (await row(`select count(*)::int as n from ${from}`))?.['n'];
const amounts = () => row('select status, amount_paid, amount_refunded from orders');

const CONSEQUENCES = ['bookings', 'loyalty_entries', 'gift_cards', 'packages', 'invoices'];

describe('an order that is imported', () => {
  it('is paid by its payment, with no consequence and no announcement', async () => {
    expect(await take()).toEqual({ result: 'imported', woken: [] });
    expect(await amounts()).toEqual({ status: 'paid', amount_paid: 10_000n, amount_refunded: 0n });
    expect(await row('select source, payment_id, amount, outcome from order_payments')).toEqual({
      ...{ source: 'sim', payment_id: 'pay_1', amount: 10_000n, outcome: 'marked_paid' },
    });
    for (const table of [...CONSEQUENCES, 'outbox']) expect([table, await count(table)]).toEqual([table, 0]);
  });

  it('twice, also at once, changes nothing the second time; and a dry run changes nothing at all', async () => {
    expect(await take({}, true)).toMatchObject({ result: 'imported' });
    expect(await count('orders')).toBe(0);
    const both = await Promise.all([take({ amountRefunded: 500n }), take({ amountRefunded: 500n })]);
    expect(both.map(({ result }) => result).toSorted((a, b) => (a < b ? -1 : 1))).toEqual(['imported', 'unchanged']);
    const before = await dumpEffects(db.pool);
    expect(await take({ amountRefunded: 500n })).toEqual({ result: 'unchanged' });
    expect(await dumpEffects(db.pool)).toEqual(before);
  });

  it('otherwise than it stands here is refused, and named', async () => {
    await take();
    const before = await dumpEffects(db.pool);
    expect(await take({ amount: 9_000n, customer: { id: 'cus_2', email: null, name: null } })).toEqual({
      ...{ result: 'refused', reason: 'It was imported before with another amount and customer_id.' },
    });
    expect(await take({ id: 'ord_2' })).toEqual({
      ...{ result: 'refused', reason: 'Payment pay_1 of sim belongs to order ord_1 here.' },
    });
    expect(await dumpEffects(db.pool)).toEqual(before);
  });

  it('hears an old webhook as already paid by the same payment, and does nothing', async () => {
    await take();
    const before = await dumpEffects(db.pool);
    await seedEvent(db.pool, { id: 'evt_old', paymentId: 'pay_1', orderId: 'ord_1' });
    const { callerOutcomes } = await look(db.pool, facts({ paymentId: 'pay_1' }), { callers: ['c'] });
    expect(callerOutcomes).toEqual({ c: 'already_paid_same_payment' });
    expect(await row('select state, outcome from webhook_events')).toEqual({
      ...{ state: 'processed', outcome: 'already_paid_same_payment' },
    });
    const { processed_events: gate, ...effects } = await dumpEffects(db.pool);
    const { processed_events: _before, ...untouched } = before;
    expect(effects).toEqual(untouched);
    expect(gate).toHaveLength(1);
  });

  it('whose webhook had come before, and waited or was put before a person, takes that payment', async () => {
    const aDayLater = new Date(Date.now() + 25 * 3_600_000);
    for (const [n, at] of [
      [1, new Date()],
      [2, aDayLater],
    ] as const) {
      const about = { paymentId: `pay_${n}`, orderId: `ord_${n}` };
      await seedEvent(db.pool, { id: `evt_${n}`, ...about });
      await look(db.pool, facts(about), { at });
      expect(await take({ id: `ord_${n}`, paymentId: `pay_${n}` })).toMatchObject({
        ...{ result: 'imported', woken: [{ paymentId: `pay_${n}`, eventId: `evt_${n}` }] },
      });
      await look(db.pool, facts(about));
    }
    expect(await count(`webhook_events where state = 'processed' and outcome = 'already_paid_same_payment'`)).toBe(2);
    expect(await count(`dead_letters where status = 'open'`)).toBe(0);
    expect(await count('refunds')).toBe(0);
  });
});

describe('a refund of an imported order', () => {
  it('at the gateway is recorded and announced, and takes back nothing that never was', async () => {
    await take();
    await look(db.pool, facts({ paymentId: 'pay_1' }), {
      refunds: [refundFacts({ refundId: 're_1', amount: 4_000n })],
    });
    expect(await amounts()).toEqual({ status: 'paid', amount_paid: 10_000n, amount_refunded: 4_000n });
    for (const table of CONSEQUENCES) expect([table, await count(table)]).toEqual([table, 0]);
    expect(await count(`outbox where event_type = 'refund.succeeded'`)).toBe(1);
  });

  it('that had been made before it was imported is not a new one, and a new one is', async () => {
    await take({ amountRefunded: 5_000n });
    const old = [2_000n, 3_000n].map((amount) => refundFacts({ refundId: `re_${amount}`, amount }));
    const fresh = refundFacts({ refundId: 're_fresh', amount: 1_000n });
    await look(db.pool, facts({ paymentId: 'pay_1' }), { refunds: [fresh, ...old] });
    await look(db.pool, facts({ paymentId: 'pay_1' }), { refunds: [...old, fresh] });
    expect(await amounts()).toMatchObject({ amount_refunded: 6_000n });
    expect(await count('refunds')).toBe(2);
    expect(await count('outbox')).toBe(1);
  });

  it('that we make keeps within what is left of it', async () => {
    await take({ amountRefunded: 5_000n });
    await expect(seedRefund(db.pool, 'rf_more', 'pay_1', 5_001n)).rejects.toThrow('refund_exceeds_captured');
    await seedRefund(db.pool, 'rf_rest', 'pay_1', 5_000n);
    await refundIs(db.pool, 'rf_rest', 'succeeded');
    expect(await amounts()).toMatchObject({ amount_refunded: 10_000n });
    for (const table of CONSEQUENCES) expect([table, await count(table)]).toEqual([table, 0]);
  });
});
