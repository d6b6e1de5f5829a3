import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPool } from '../../src/database/pool.ts';
import { readAnnouncedOrder } from '../../src/database/read-announced-event.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { facts, look, refundFacts, seedEvent, seedOrder } from '../support/seed.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
beforeEach(async () => {
  await db.pool.query(`truncate orders, order_lines, order_payments, payments, refunds, gateway_calls, webhook_events,
    processed_events, outbox, dead_letters, bookings, loyalty_entries, gift_cards, packages, invoices, state_transitions,
    ledger_entries cascade`);
});

const count = async (sql: string) =>
  Number((await db.pool.query<{ n: bigint }>(`select count(*) as n from ${sql}`)).rows[0]?.n);
const order = async (id = 'ord_1') => (await db.pool.query('select * from orders where id = $1', [id])).rows[0];

const LINES = [
  { id: 'course', kind: 'enrolment', amount: 5_000n },
  { id: 'card', kind: 'gift_card', amount: 3_001n, quantity: 2 },
  { id: 'pack', kind: 'package', amount: 1_000n, quantity: 3 },
  { id: 'book', kind: 'product', amount: 999n },
];

describe('a capture on its order', () => {
  it('pays it once, with every consequence once, however often it is looked at', async () => {
    await seedOrder(db.pool, { id: 'ord_1', lines: LINES });
    for (const id of ['evt_a', 'evt_b', 'evt_c']) {
      await seedEvent(db.pool, { id, paymentId: 'pay_1' });
      await look(db.pool, facts({ paymentId: 'pay_1' }));
    }
    await look(db.pool, facts({ paymentId: 'pay_1' }));
    expect(await order()).toMatchObject({ status: 'paid', amount_paid: 10_000n, paid_payment_id: 'pay_1' });
    expect(await count('bookings')).toBe(1);
    expect(await count('loyalty_entries where points = 100')).toBe(1);
    expect(await count('gift_cards')).toBe(2);
    const cards = await db.pool.query('select amount from gift_cards order by unit');
    expect(cards.rows.map((row) => row.amount)).toEqual([1_501n, 1_500n]);
    expect(await count('packages')).toBe(3);
    expect(await count('invoices')).toBe(1);
    expect(await count(`outbox where event_type = 'order.paid'`)).toBe(1);
    expect(await count(`outbox where event_type = 'fulfilment.requested'`)).toBe(1);
    const gates = await db.pool.query('select event_id, outcome from processed_events order by event_id');
    expect(gates.rows).toEqual([
      { event_id: 'sim:evt_a', outcome: 'marked_paid' },
      { event_id: 'sim:evt_b', outcome: 'already_paid_same_payment' },
      { event_id: 'sim:evt_c', outcome: 'already_paid_same_payment' },
    ]);
    expect(await count('refunds')).toBe(0);
  });

  it('gives the outcome to one of all callers and events, and the same again to a repeated step', async () => {
    await seedOrder(db.pool, { id: 'ord_1' });
    await seedEvent(db.pool, { id: 'evt_a', paymentId: 'pay_1' });
    const first = await look(db.pool, facts({ paymentId: 'pay_1' }), { callers: ['confirm:1'] });
    expect(first.callerOutcomes).toEqual({ 'confirm:1': 'already_paid_same_payment' });
    await seedOrder(db.pool, { id: 'ord_2' });
    const alone = facts({ paymentId: 'pay_2', orderId: 'ord_2' });
    expect((await look(db.pool, alone, { callers: ['confirm:2', 'confirm:3'] })).callerOutcomes).toEqual({
      'confirm:2': 'marked_paid',
      'confirm:3': 'already_paid_same_payment',
    });
    expect((await look(db.pool, alone, { callers: ['confirm:2', 'confirm:3'] })).callerOutcomes).toEqual({
      'confirm:2': 'marked_paid',
      'confirm:3': 'already_paid_same_payment',
    });
  });

  it('counts parts in both orders and at once, and refunds none of them', async () => {
    for (const [name, parts] of [
      ['up', [4_000n, 6_000n]],
      ['down', [6_000n, 4_000n]],
    ] as const) {
      const id = `ord_${name}`;
      await seedOrder(db.pool, { id });
      for (const [i, amount] of parts.entries()) {
        const applied = await look(db.pool, facts({ paymentId: `pay_${name}_${i}`, orderId: id, amount }));
        expect(applied.outcome).toBe(i === 0 ? 'partially_paid' : 'marked_paid');
      }
      for (const [i, amount] of parts.entries()) {
        const again = await look(db.pool, facts({ paymentId: `pay_${name}_${i}`, orderId: id, amount }), {
          callers: ['c'],
        });
        expect(again.callerOutcomes['c']).toBe('already_paid_same_payment');
      }
      expect(await order(id)).toMatchObject({ status: 'paid', amount_paid: 10_000n });
    }
    await seedOrder(db.pool, { id: 'ord_once' });
    await Promise.all(
      [4_000n, 6_000n].map((amount, i) =>
        look(db.pool, facts({ paymentId: `pay_once_${i}`, orderId: 'ord_once', amount })),
      ),
    );
    expect(await order('ord_once')).toMatchObject({ status: 'paid', amount_paid: 10_000n });
    expect(await count('refunds')).toBe(0);
    expect(await count(`invoices where order_id = 'ord_once'`)).toBe(1);
  });

  it('holds another currency for a human and leaves the order as it was', async () => {
    await seedOrder(db.pool, { id: 'ord_1' });
    await seedEvent(db.pool, { id: 'evt_a', paymentId: 'pay_1' });
    const applied = await look(db.pool, facts({ paymentId: 'pay_1', currency: 'USD' }));
    expect(applied).toMatchObject({ outcome: 'held_for_review', needsHuman: true });
    await look(db.pool, facts({ paymentId: 'pay_1', currency: 'USD' }), { callers: ['c'] });
    expect(await order()).toMatchObject({ status: 'pending_payment', amount_paid: 0n });
    expect(await count(`dead_letters where kind = 'wrong_currency' and event_id = 'evt_a'`)).toBe(1);
    expect(await count(`webhook_events where state = 'held'`)).toBe(1);
    expect(await count('processed_events')).toBe(0);
  });

  it('keeps the surplus of too much', async () => {
    await seedOrder(db.pool, { id: 'ord_1' });
    await look(db.pool, facts({ paymentId: 'pay_1', amount: 12_000n }));
    expect(await order()).toMatchObject({ status: 'paid', amount_paid: 12_000n });
    const books = await db.pool.query(
      `select account, sum(case side when 'debit' then amount else -amount end)::bigint as balance
       from ledger_entries group by account order by account`,
    );
    expect(books.rows).toEqual([
      { account: 'customer_deposits', balance: -2_000n },
      { account: 'gateway_receivable:sim', balance: 12_000n },
      { account: 'sales', balance: -10_000n },
    ]);
  });
});

describe('a second payment', () => {
  it('of an order is given back once, whether it comes after or in the same instant', async () => {
    const second = createPool({ url: db.url, max: 5, applicationName: 'second connection' });
    try {
      for (let round = 0; round < 30; round += 1) {
        const orderId = `ord_${round}`;
        await seedOrder(db.pool, { id: orderId });
        const outcomes = await Promise.all([
          look(db.pool, facts({ paymentId: `pay_a${round}`, orderId })),
          look(second, facts({ paymentId: `pay_b${round}`, orderId }), { source: 'other' }),
        ]);
        expect(new Set(outcomes.map((o) => o.outcome))).toEqual(new Set(['extra_payment', 'marked_paid']));
        await look(db.pool, facts({ paymentId: `pay_a${round}`, orderId }));
        await look(second, facts({ paymentId: `pay_b${round}`, orderId }), { source: 'other' });
      }
    } finally {
      await second.end();
    }
    expect(await count(`refunds where kind = 'extra_capture' and status = 'pending' and amount = 10000`)).toBe(30);
    expect(await count(`outbox where event_type = 'refund.requested'`)).toBe(30);
    expect(await count(`outbox where event_type = 'payment.extra_captured'`)).toBe(30);
    expect(await count('bookings')).toBe(30);
    expect(await count(`orders where status = 'paid' and amount_paid = 10000`)).toBe(30);
  });
});

describe('refunds', () => {
  it('seen before the capture leave no consequence standing', async () => {
    await seedOrder(db.pool, { id: 'ord_1', lines: LINES });
    await seedEvent(db.pool, { id: 'evt_r', paymentId: 'pay_1', type: 'refund.succeeded', objectId: 'rf_1' });
    await look(db.pool, facts({ paymentId: 'pay_1' }), { refunds: [refundFacts({ refundId: 'rf_1' })] });
    await seedEvent(db.pool, { id: 'evt_c', paymentId: 'pay_1' });
    await look(db.pool, facts({ paymentId: 'pay_1' }), { refunds: [refundFacts({ refundId: 'rf_1' })] });
    expect(await order()).toMatchObject({ status: 'paid', amount_refunded: 10_000n });
    expect(await count(`bookings where status = 'cancelled'`)).toBe(1);
    expect(await count(`gift_cards where status = 'disabled' and remaining = 0`)).toBe(2);
    expect(await count(`packages where status = 'disabled'`)).toBe(3);
    const points = await db.pool.query('select sum(points)::bigint as points from loyalty_entries');
    expect(points.rows[0]).toEqual({ points: 0n });
    expect(await count(`invoices where kind = 'credit_note' and amount = 10000`)).toBe(1);
  });

  it('add up by refund, not by running total, and in any order', async () => {
    const first = refundFacts({ refundId: 'rf_1', amount: 200n });
    const both = [first, refundFacts({ refundId: 'rf_2', amount: 300n })];
    await seedOrder(db.pool, { id: 'ord_1' });
    await look(db.pool, facts({ paymentId: 'pay_1' }));
    for (const list of [[first], both, [first], [...both].reverse()]) {
      await look(db.pool, facts({ paymentId: 'pay_1' }), { refunds: list });
    }
    expect(await order()).toMatchObject({ amount_refunded: 500n });
    expect(await count(`refunds where kind = 'gateway' and status = 'succeeded'`)).toBe(2);
    expect(await count(`bookings where status = 'confirmed'`)).toBe(1);
    const points = await db.pool.query('select sum(points)::bigint as points from loyalty_entries');
    expect(points.rows[0]).toEqual({ points: 95n });
  });
});

describe('a part that is given back before the order is complete', () => {
  it('comes to the same as one that is given back after', async () => {
    const part = (order: string) => facts({ paymentId: `pay_${order}_1`, orderId: `ord_${order}`, amount: 4_000n });
    const rest = (order: string) => facts({ paymentId: `pay_${order}_2`, orderId: `ord_${order}`, amount: 6_000n });
    const back = (order: string) => ({
      refunds: [refundFacts({ refundId: `rf_${order}`, paymentId: `pay_${order}_1`, amount: 4_000n })],
    });
    await seedOrder(db.pool, { id: 'ord_before' });
    await look(db.pool, part('before'), back('before'));
    await look(db.pool, rest('before'));
    await seedOrder(db.pool, { id: 'ord_after' });
    await look(db.pool, part('after'));
    await look(db.pool, rest('after'));
    await look(db.pool, part('after'), back('after'));
    const stateOf = async (id: string) => {
      const books = await db.pool.query(
        `select account, sum(case side when 'debit' then amount else -amount end)::bigint as balance
         from ledger_entries where order_id = $1 group by account
         having sum(case side when 'debit' then amount else -amount end) <> 0 order by account`,
        [id],
      );
      const notes = await db.pool.query(`select kind, amount from invoices where order_id = $1 order by kind`, [id]);
      const points = await db.pool.query('select sum(points)::bigint as n from loyalty_entries where order_id = $1', [
        id,
      ]);
      const { status, amount_paid, amount_refunded } = await order(id);
      return { books: books.rows, notes: notes.rows, points: points.rows, status, amount_paid, amount_refunded };
    };
    const before = await stateOf('ord_before');
    expect(before).toEqual(await stateOf('ord_after'));
    expect(before.notes).toEqual([
      { kind: 'credit_note', amount: 4_000n },
      { kind: 'invoice', amount: 10_000n },
    ]);
    // Who tells the customer: the receipt of the order, or that of the refund.
    const noteOf = async (orderId: string) => {
      const event = { id: 'outbox:1', type: 'order.paid', at: new Date(), aggregateVersion: 1n };
      const announced = await readAnnouncedOrder(db.pool, { ...event, payload: { order_id: orderId } });
      return announced?.invoices.find(({ kind }) => kind === 'credit_note')?.withInvoice;
    };
    expect([await noteOf('ord_before'), await noteOf('ord_after')]).toEqual([true, false]);
  });
});

describe('an event that claims more than the gateway shows', () => {
  it('waits for 5 s, 30 s, 5 min and 1 h, then for a human, and never pays', async () => {
    await seedOrder(db.pool, { id: 'ord_1' });
    await seedEvent(db.pool, { id: 'evt_a', paymentId: 'pay_1' });
    let at = Date.now();
    const waits: (number | null)[] = [];
    for (let looks = 0; looks < 5; looks += 1) {
      const applied = await look(db.pool, facts({ paymentId: 'pay_1', status: 'pending' }), { at: new Date(at) });
      waits.push(applied.nextLookMs);
      at += applied.nextLookMs ?? 0;
    }
    expect(waits).toEqual([5_000, 30_000, 300_000, 3_600_000, null]);
    expect(await count(`webhook_events where state = 'held'`)).toBe(1);
    expect(await count(`dead_letters where kind = 'unknown_at_gateway'`)).toBe(1);
    expect(await order()).toMatchObject({ status: 'payment_pending', amount_paid: 0n });
  });
});

describe('an event before its order', () => {
  it('waits, then goes before a human, and is matched all the same when the order appears', async () => {
    await seedEvent(db.pool, { id: 'evt_a', paymentId: 'pay_1', orderId: 'ord_9' });
    const payment = facts({ paymentId: 'pay_1', orderId: 'ord_9' });
    const waiting = await look(db.pool, payment);
    expect(waiting).toMatchObject({ waitingFor: 'order', pendingEvents: 1, nextLookMs: 5_000 });
    const late = new Date(Date.now() + 25 * 3_600_000);
    expect(await look(db.pool, payment, { at: late })).toMatchObject({ outcome: 'held_for_review', needsHuman: true });
    expect(await count(`dead_letters where kind = 'unmatched_payment' and status = 'open'`)).toBe(1);
    await seedEvent(db.pool, { id: 'evt_b', paymentId: 'pay_1', orderId: 'ord_9' });
    expect(await look(db.pool, payment)).toMatchObject({ outcome: 'held_for_review', pendingEvents: 0 });
    await seedOrder(db.pool, { id: 'ord_9' });
    await db.pool.query('update webhook_events set look_again_at = now()');
    expect(await look(db.pool, payment)).toMatchObject({ outcome: 'marked_paid', needsHuman: false });
    expect(await count(`dead_letters where status = 'recovered'`)).toBe(1);
    expect(await count(`webhook_events where state = 'processed' and outcome = 'marked_paid'`)).toBe(1);
    expect(await count(`webhook_events where state = 'processed'`)).toBe(2);
    const books = await db.pool.query(
      `select account, sum(case side when 'debit' then amount else -amount end)::bigint as balance
       from ledger_entries group by account having sum(case side when 'debit' then amount else -amount end) <> 0 order by account`,
    );
    expect(books.rows).toEqual([
      { account: 'gateway_receivable:sim', balance: 10_000n },
      { account: 'sales', balance: -10_000n },
    ]);
  });
});
