import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runAudit } from '../../src/database/audit.ts';
import { decideDeadLetter } from '../../src/database/decide-dead-letter.ts';
import { inTransaction } from '../../src/database/pool.ts';
import { reserveCheckout } from '../../src/database/reserve-checkout.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { facts, look, seedEvent, seedOrder } from '../support/seed.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
beforeEach(async () => {
  await db.pool
    .query(`truncate orders, order_lines, order_payments, payments, refunds, checkouts, gateway_calls, webhook_events,
    processed_events, outbox, dead_letters, bookings, loyalty_entries, gift_cards, packages, invoices, state_transitions, ledger_entries cascade`);
  await seedOrder(db.pool, { id: 'ord_1' });
});

const row = async (sql: string): Promise<Record<string, unknown> | undefined> =>
  (await db.pool.query<Record<string, unknown>>(sql)).rows[0];
const MODES = { shop: 'live', sim: 'test' } as const;
/** A look at a payment of an account, beside which the other one is configured. */
const capture = (source: keyof typeof MODES, paymentId: string, amount = 10_000n) =>
  look(db.pool, facts({ paymentId, amount, mode: MODES[source] }), {
    ...{ source, mode: MODES[source], otherModeSources: [source === 'shop' ? 'sim' : 'shop'] },
  });

async function expectHeld(source: string, paymentId: string): Promise<void> {
  const id = `order_not_payable:${source}:${paymentId}`;
  expect(await row(`select status, order_id from dead_letters where id = '${id}'`)).toEqual({
    status: 'open',
    order_id: 'ord_1',
  });
  expect(await row(`select outcome from payments where payment_id = '${paymentId}'`)).toEqual({
    outcome: 'held_for_review',
  });
  expect(await row('select count(*)::int as n from refunds')).toEqual({ n: 0 });
  expect((await runAudit(db.pool)).violations).toEqual([]);
}

describe('an order that is to be paid at a live account', () => {
  beforeEach(async () => {
    await inTransaction(db.pool, (tx) => reserveCheckout(tx, { orderId: 'ord_1', source: 'shop', returnUrl: null }));
  });

  it.each([['shop', 'sim'] as const, ['sim', 'shop'] as const])(
    'is paid by live money alone, whichever is seen first: %s, %s',
    async (...sources) => {
      for (const source of [...sources, ...sources]) await capture(source, `pay_${source}`);
      expect(await row('select status, paid_source, amount_paid from orders')).toEqual({
        ...{ status: 'paid', paid_source: 'shop', amount_paid: 10_000n },
      });
      await expectHeld('sim', 'pay_sim');
      expect(await row('select count(*)::int as n from bookings')).toEqual({ n: 1 });
    },
  );

  it('is not paid by test money: its event is before a person, who can give it back or give it up', async () => {
    await seedEvent(db.pool, { id: 'evt_test', paymentId: 'pay_sim', orderId: 'ord_1' });
    await capture('sim', 'pay_sim');
    expect(await row('select state from webhook_events')).toEqual({ state: 'held' });
    expect(await row('select amount_paid from orders')).toEqual({ amount_paid: 0n });
    const by = { note: 'a mistake of ours', outcome: null, gatewayId: null, by: 'support' };
    const decision = { deadLetterId: 'order_not_payable:sim:pay_sim', action: 'refund', ...by } as const;
    expect(await decideDeadLetter(db.pool, decision, DEFAULT_POLICIES)).toEqual({ result: 'decided' });
    expect(await row('select state from webhook_events')).toEqual({ state: 'processed' });
    expect(await row('select kind, status, amount from refunds')).toEqual({
      ...{ kind: 'late_capture', status: 'pending', amount: 10_000n },
    });
  });
});

describe('an order that no checkout was made for', () => {
  it('belongs to the mode of the payment that counts for it first, whole or in part', async () => {
    await capture('shop', 'pay_live', 4_000n);
    await capture('sim', 'pay_sim', 6_000n);
    expect(await row('select status, amount_paid from orders')).toEqual({
      status: 'partially_paid',
      amount_paid: 4_000n,
    });
    await expectHeld('sim', 'pay_sim');
    await capture('shop', 'pay_rest', 6_000n);
    expect(await row('select status from orders')).toEqual({ status: 'paid' });
  });

  it('and was paid with test money has live money before a person: it is neither extra nor lost', async () => {
    await capture('sim', 'pay_sim');
    await capture('shop', 'pay_live');
    await expectHeld('shop', 'pay_live');
  });
});
