import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { timelineEntries } from '../../src/api/timeline-entry.ts';
import { decideDeadLetter } from '../../src/database/decide-dead-letter.ts';
import { runAudit } from '../../src/database/audit.ts';
import { inTransaction } from '../../src/database/pool.ts';
import { readPayment } from '../../src/database/read-payment.ts';
import { readTimeline } from '../../src/database/read-timeline.ts';
import { recordTransition } from '../../src/database/record-transition.ts';
import { replayEvent } from '../../src/database/replay-event.ts';
import type { DisputeFacts } from '../../src/domain/gateway-facts.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { facts, look, refundFacts, seedOrder } from '../support/seed.ts';
import { dispute, tellDispute, type SeededDispute } from '../support/seed-disputes.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const REVOKE = { policies: { disputeLost: 'revoke' } } as const;
const LINES = [
  { id: 'seat', kind: 'booking', amount: 6_000n },
  { id: 'card', kind: 'gift_card', amount: 3_000n },
  { id: 'pack', kind: 'package', amount: 1_000n },
];
let n = 0;

/** A paid order with every consequence. */
async function paidOrder() {
  n += 1;
  const ids = { orderId: `ord_${n}`, paymentId: `pay_${n}` };
  await seedOrder(db.pool, { id: ids.orderId, lines: LINES });
  await look(db.pool, facts(ids));
  return { ...ids, disputeId: `dp_${n}` };
}

async function rows(sql: string, ...values: unknown[]): Promise<unknown[]> {
  return (await db.pool.query(sql, values)).rows;
}

/** What stands in the end, without times and names of events. */
async function standing({ paymentId, orderId }: { paymentId: string; orderId: string }) {
  return {
    disputes: await rows(
      `select dispute_id, status, amount, fee, revokes, charged_back from disputes where payment_id = $1 order by 1`,
      paymentId,
    ),
    order: await rows('select status, disputed, amount_charged_back from orders where id = $1', orderId),
    books: await rows(
      `select account, sum(case side when 'debit' then amount else -amount end)::int as sum from ledger_entries
       where payment_id = $1 group by account having sum(case side when 'debit' then amount else -amount end) <> 0 order by 1`,
      paymentId,
    ),
    stands: await rows(
      `select (select sum(points)::int from loyalty_entries where order_id = $1) as points,
              (select string_agg(status, ' ') from bookings where order_id = $1) as bookings,
              (select string_agg(status || ' ' || remaining, ' ') from gift_cards where order_id = $1) as cards,
              (select string_agg(status, ' ') from packages where order_id = $1) as packages`,
      orderId,
    ),
    credit_notes: await rows(`select amount from invoices where order_id = $1 and kind = 'credit_note'`, orderId),
  };
}

async function announced(paymentId: string): Promise<unknown[]> {
  return rows(
    `select event_type, payload from outbox where event_type like 'dispute.%' and payload->>'payment_id' = $1 order by id`,
    paymentId,
  );
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, at) => permutations(items.toSpliced(at, 1)).map((rest) => [item, ...rest]));
}

/** The same reports in every order, each told twice, leave the same; returned is that one standing. */
async function inEveryOrder(
  reports: readonly Omit<SeededDispute, 'paymentId'>[],
  more: Parameters<typeof look>[2] = {},
) {
  const ends = [];
  for (const order of permutations(reports)) {
    const ids = await paidOrder();
    for (const report of order) await dispute(db.pool, { ...ids, ...report }, more);
    for (const report of order) await dispute(db.pool, { ...ids, ...report }, more);
    const end = await standing(ids);
    ends.push({ ...end, disputes: end.disputes.map((row) => ({ ...(row as object), dispute_id: 'dp' })) });
  }
  const [first, ...others] = ends;
  for (const other of others) expect(other).toEqual(first);
  return first;
}

describe('a dispute of a counted payment', () => {
  it('withholds its money and its fee while it is open, flags the order, which stays paid, and is told once', async () => {
    const ids = await paidOrder();
    await dispute(db.pool, { ...ids, status: 'opened', amount: 4_000n, fee: 1_500n });
    await dispute(db.pool, { ...ids, status: 'opened', amount: 4_000n, fee: 1_500n });
    expect(await standing(ids)).toMatchObject({
      disputes: [{ status: 'opened', amount: 4_000n, fee: 1_500n }],
      order: [{ status: 'paid', disputed: true }],
      books: [
        { account: 'dispute_fees', sum: 1_500 },
        { account: 'disputed_funds', sum: 4_000 },
        { account: 'gateway_receivable:sim', sum: 4_500 },
        { account: 'sales', sum: -10_000 },
      ],
    });
    expect(await announced(ids.paymentId)).toEqual([
      {
        event_type: 'dispute.opened',
        payload: {
          ...{ order_id: ids.orderId, source: 'sim', payment_id: ids.paymentId, dispute_id: ids.disputeId },
          ...{ amount: '4000', currency: 'EUR' },
        },
      },
    ]);
  });

  it('that is won gives the money back, and the fee only where the gateway says so', async () => {
    const kept = await inEveryOrder([
      { status: 'opened', fee: 1_500n, minute: 1 },
      { status: 'won', minute: 2 },
    ]);
    expect(kept).toMatchObject({ order: [{ disputed: false }], disputes: [{ status: 'won', fee: 1_500n }] });
    expect(kept?.books).toEqual([
      { account: 'dispute_fees', sum: 1_500 },
      { account: 'gateway_receivable:sim', sum: 8_500 },
      { account: 'sales', sum: -10_000 },
    ]);
    const returned = await inEveryOrder([
      { status: 'opened', fee: 1_500n, minute: 1 },
      { status: 'won', fee: 0n, minute: 2 },
    ]);
    expect(returned?.books).toEqual([
      { account: 'gateway_receivable:sim', sum: 10_000 },
      { account: 'sales', sum: -10_000 },
    ]);
  });

  it('that is lost is lost, whatever comes first, and by default the customer keeps what was booked', async () => {
    const lost = await inEveryOrder([
      { status: 'opened', minute: 3 },
      { status: 'lost', minute: 2 },
    ]);
    expect(lost).toMatchObject({
      order: [{ status: 'paid', disputed: true, amount_charged_back: 0n }],
      stands: [{ points: 100, bookings: 'confirmed', cards: 'active 3000', packages: 'active' }],
    });
    expect(lost?.books).toEqual([
      { account: 'chargeback_losses', sum: 10_000 },
      { account: 'sales', sum: -10_000 },
    ]);
  });

  it('that was first heard of at its end leaves the records of one that was opened before', async () => {
    const [late, usual] = [await paidOrder(), await paidOrder()];
    await dispute(db.pool, { ...late, status: 'lost', fee: 7n });
    await dispute(db.pool, { ...usual, status: 'opened', fee: 7n });
    await dispute(db.pool, { ...usual, status: 'lost', fee: 7n });
    const told = async (ids: typeof late) => ({
      history: await rows(
        `select from_status, to_status from state_transitions where machine = 'dispute' and payment_id = $1 order by id`,
        ids.paymentId,
      ),
      postings: await rows(
        `select distinct split_part(source_event_id, ':', 1) as posting from ledger_entries where payment_id = $1 order by 1`,
        ids.paymentId,
      ),
      announced: (await announced(ids.paymentId)).map((row) => (row as { event_type: string }).event_type),
    });
    expect(await told(late)).toEqual(await told(usual));
    expect(await told(late)).toMatchObject({ announced: ['dispute.opened', 'dispute.lost'] });
  });

  it('ends as the gateway said last by its own time, and lost where the times do not tell', async () => {
    const [won, lost] = ['won', 'lost'] as const;
    const later = [
      { status: won, minute: 5 },
      { status: lost, minute: 4 },
    ];
    expect(await inEveryOrder(later)).toMatchObject({ disputes: [{ status: 'won' }], order: [{ disputed: false }] });
    const same = later.map((report) => ({ ...report, minute: 5 }));
    expect(await inEveryOrder(same)).toMatchObject({ disputes: [{ status: 'lost' }] });
    const untold = later.map((report) => ({ ...report, minute: null }));
    expect(await inEveryOrder(untold)).toMatchObject({ disputes: [{ status: 'lost' }] });
    const three = [
      { status: lost, minute: 1 },
      { status: won, minute: 2 },
      { status: lost, minute: 3, amount: 9_000n },
    ];
    const end = await inEveryOrder(three);
    expect(end?.books).toEqual([
      { account: 'chargeback_losses', sum: 9_000 },
      { account: 'gateway_receivable:sim', sum: 1_000 },
      { account: 'sales', sum: -10_000 },
    ]);
  });

  it('is one of several: the order is flagged until none is open or lost', async () => {
    const ids = await paidOrder();
    const [a, b] = [`${ids.disputeId}_a`, `${ids.disputeId}_b`];
    await dispute(db.pool, { ...ids, disputeId: a, status: 'opened', amount: 3_000n });
    await dispute(db.pool, { ...ids, disputeId: b, status: 'opened', amount: 2_000n });
    await dispute(db.pool, { ...ids, disputeId: a, status: 'won', amount: 3_000n });
    expect(await standing(ids)).toMatchObject({ order: [{ disputed: true }] });
    await dispute(db.pool, { ...ids, disputeId: b, status: 'won', amount: 2_000n });
    expect(await standing(ids)).toMatchObject({ order: [{ disputed: false }] });
  });
});

describe('by the policy to revoke, a dispute that is lost', () => {
  it('takes back what a full refund takes back, with no credit note, in every order of events', async () => {
    const end = await inEveryOrder(
      [
        { status: 'opened', minute: 1 },
        { status: 'lost', minute: 2 },
      ],
      REVOKE,
    );
    expect(end).toMatchObject({
      order: [{ status: 'paid', disputed: true, amount_charged_back: 10_000n }],
      stands: [{ points: 0, bookings: 'cancelled', cards: 'disabled 0', packages: 'disabled' }],
      credit_notes: [],
    });
  });

  it('takes back nothing that a refund took already, and stops everything when both together reach what was paid', async () => {
    const ends = [];
    for (const order of permutations(['refund', 'dispute_a', 'dispute_b'])) {
      const ids = await paidOrder();
      const refunds = [refundFacts({ refundId: `rf_${ids.paymentId}`, paymentId: ids.paymentId, amount: 5_000n })];
      for (const step of order) {
        if (step === 'refund') await look(db.pool, facts(ids), { refunds });
        else {
          const disputeId = `${ids.disputeId}_${step}`;
          const amount = step === 'dispute_a' ? 2_000n : 3_000n;
          await dispute(db.pool, { ...ids, disputeId, status: 'lost', amount }, REVOKE);
        }
        const kept = await rows('select status from bookings where order_id = $1', ids.orderId);
        expect(kept).toEqual([{ status: step === order.at(-1) ? 'cancelled' : 'confirmed' }]);
      }
      const { disputes: _, ...end } = await standing(ids);
      ends.push(end);
    }
    expect(ends[0]).toMatchObject({ stands: [{ points: 0 }], credit_notes: [{ amount: 5_000n }] });
    for (const end of ends) expect(end).toEqual(ends[0]);
  });

  it('and is won after all gives the points back, and leaves stopped what was stopped', async () => {
    const ids = await paidOrder();
    await dispute(db.pool, { ...ids, status: 'lost', minute: 1 }, REVOKE);
    await dispute(db.pool, { ...ids, status: 'won', minute: 2 }, REVOKE);
    expect(await standing(ids)).toMatchObject({
      order: [{ disputed: false, amount_charged_back: 0n }],
      stands: [{ points: 100, bookings: 'cancelled' }],
    });
  });

  it('is judged by the policy of the day on which it was lost', async () => {
    const ids = await paidOrder();
    await dispute(db.pool, { ...ids, status: 'lost', minute: 1 });
    await dispute(db.pool, { ...ids, status: 'lost', minute: 2 }, REVOKE);
    expect(await standing(ids)).toMatchObject({ order: [{ amount_charged_back: 0n }] });
  });

  it('before its order is complete counts when it is', async () => {
    n += 1;
    const ids = { orderId: `ord_${n}`, paymentId: `pay_${n}` };
    await seedOrder(db.pool, { id: ids.orderId, lines: LINES });
    await look(db.pool, facts({ ...ids, amount: 4_000n }));
    await dispute(db.pool, { ...ids, disputeId: `dp_${n}`, status: 'lost', amount: 4_000n }, REVOKE);
    await look(db.pool, facts({ orderId: ids.orderId, paymentId: `pay_${n}_rest`, amount: 6_000n }));
    expect(await standing(ids)).toMatchObject({ stands: [{ points: 60, bookings: 'confirmed' }] });
  });
});

describe('a dispute of a payment that does not count', () => {
  it('because it is extra is recorded with its order', async () => {
    const ids = await paidOrder();
    const extra = { orderId: ids.orderId, paymentId: `${ids.paymentId}_extra`, disputeId: `${ids.disputeId}_extra` };
    await look(db.pool, facts(extra));
    await dispute(db.pool, { ...extra, status: 'lost' }, REVOKE);
    expect(await standing(extra)).toMatchObject({
      disputes: [{ status: 'lost', charged_back: 0n }],
      order: [{ status: 'paid', disputed: true, amount_charged_back: 0n }],
      stands: [{ points: 100, bookings: 'confirmed' }],
    });
  });

  it('because its order is not there yet is recorded, and finds the order when it is', async () => {
    n += 1;
    const ids = { orderId: `ord_${n}`, paymentId: `pay_${n}` };
    const seen = await dispute(db.pool, { ...ids, disputeId: `dp_${n}`, status: 'lost' }, REVOKE);
    expect(seen).toMatchObject({ waitingFor: 'order', needsHuman: false });
    expect(await rows('select order_id, status from disputes where payment_id = $1', ids.paymentId)).toEqual([
      { order_id: null, status: 'lost' },
    ]);
    expect(await announced(ids.paymentId)).toMatchObject([
      { payload: { order_id: null } },
      { payload: { order_id: null } },
    ]);
    await seedOrder(db.pool, { id: ids.orderId, lines: LINES });
    await look(db.pool, facts(ids));
    expect(await standing(ids)).toMatchObject({
      disputes: [{ charged_back: 10_000n }],
      order: [{ status: 'paid', disputed: true }],
      stands: [{ points: 0, bookings: 'cancelled' }],
    });
    expect(await announced(ids.paymentId)).toHaveLength(2);
  });

  it('and waits for a person is recorded at once; counted by the person, it counts with what it lost', async () => {
    n += 1;
    const ids = { orderId: `ord_${n}`, paymentId: `pay_${n}` };
    await seedOrder(db.pool, { id: ids.orderId, lines: LINES });
    await db.pool.query(`update orders set status = 'cancelled' where id = $1`, [ids.orderId]);
    await look(db.pool, facts(ids), { policies: { lateCapture: 'review' } });
    const review = { policies: { lateCapture: 'review', disputeLost: 'revoke' } } as const;
    await dispute(db.pool, { ...ids, disputeId: `dp_${n}`, status: 'lost' }, review);
    expect(await rows('select state from webhook_events where payment_id = $1', ids.paymentId)).toEqual([
      { state: 'processed' },
    ]);
    await decideDeadLetter(
      db.pool,
      {
        ...{ deadLetterId: `late_capture:sim:${ids.paymentId}`, action: 'accept', note: 'counts', by: 'shop' },
        ...{ outcome: null, gatewayId: null },
      },
      { ...DEFAULT_POLICIES, ...review.policies },
    );
    expect(await standing(ids)).toMatchObject({
      order: [{ status: 'paid', disputed: true, amount_charged_back: 10_000n }],
      stands: [{ points: 0, bookings: 'cancelled' }],
    });
  });
});

describe('an event about a dispute', () => {
  it('that lacks the amount is held, never taken for zero, and applied when another one tells it', async () => {
    const ids = await paidOrder();
    const held = await tellDispute(db.pool, { ...ids, status: 'lost', amount: null, minute: 2 });
    expect(await look(db.pool, facts(ids))).toMatchObject({ needsHuman: true });
    expect(await rows('select from disputes where payment_id = $1', ids.paymentId)).toEqual([]);
    const letter = async () => rows('select kind, status from dead_letters where event_id = $1', held);
    expect(await letter()).toEqual([{ kind: 'event_unreadable', status: 'open' }]);
    await dispute(db.pool, { ...ids, status: 'opened', amount: 2_500n, minute: 1 });
    expect(await standing(ids)).toMatchObject({ disputes: [{ status: 'lost', amount: 2_500n }] });
    expect(await letter()).toEqual([{ kind: 'event_unreadable', status: 'recovered' }]);
    expect(await rows('select state from webhook_events where event_id = $1', held)).toEqual([{ state: 'processed' }]);
  });

  it('of nothing, or of a dispute of another payment, or in another currency, is held', async () => {
    const [ids, other] = [await paidOrder(), await paidOrder()];
    await dispute(db.pool, { ...ids, status: 'opened' });
    for (const wrong of [
      { ...other, status: 'opened', amount: 0n },
      { ...other, disputeId: ids.disputeId, status: 'lost' },
      { ...ids, status: 'lost', currency: 'USD' },
    ] as const) {
      const event = await tellDispute(db.pool, wrong);
      expect(await look(db.pool, facts({ paymentId: wrong.paymentId, orderId: wrong.orderId }))).toMatchObject({
        needsHuman: true,
      });
      expect(await rows('select state from webhook_events where event_id = $1', event)).toEqual([{ state: 'held' }]);
    }
    expect(await standing(ids)).toMatchObject({ disputes: [{ status: 'opened' }] });
  });

  it('that is replayed changes nothing', async () => {
    const ids = await paidOrder();
    const event = await tellDispute(db.pool, { ...ids, status: 'lost', fee: 3n });
    await look(db.pool, facts(ids));
    const before = [await standing(ids), await announced(ids.paymentId)];
    await replayEvent(db.pool, 'sim', event);
    await look(db.pool, facts(ids));
    expect([await standing(ids), await announced(ids.paymentId)]).toEqual(before);
  });
});

describe('where the gateway shows its disputes', () => {
  const shown = (ids: { disputeId: string; paymentId: string }, more: Partial<DisputeFacts>): DisputeFacts => ({
    ...{ disputeId: ids.disputeId, paymentId: ids.paymentId, status: 'opened', amount: 10_000n, currency: 'EUR' },
    ...{ fee: null, feeCurrency: null, openedAt: null, ...more },
  });

  it('what it shows is the truth: an event that claims more waits, an older one is old news', async () => {
    const ids = await paidOrder();
    const waiting = await dispute(db.pool, { ...ids, status: 'lost' }, { disputes: [shown(ids, {})] });
    expect(waiting).toMatchObject({ pendingEvents: 1, waitingFor: 'gateway' });
    expect(await standing(ids)).toMatchObject({ disputes: [] });
    await look(db.pool, facts(ids), { disputes: [shown(ids, { status: 'lost' })] });
    await dispute(db.pool, { ...ids, status: 'opened' }, { disputes: [shown(ids, { status: 'lost' })] });
    expect(await standing(ids)).toMatchObject({ disputes: [{ status: 'lost' }] });
    const unknown = await dispute(db.pool, { ...ids, disputeId: 'dp_unknown', status: 'opened' }, { disputes: [] });
    expect(unknown).toMatchObject({ pendingEvents: 1 });
  });

  it('its fee comes in the currency of the account, grows and shrinks with what is charged, and an end is never taken back', async () => {
    const ids = await paidOrder();
    const see = (more: Partial<DisputeFacts>) =>
      dispute(db.pool, { ...ids, status: 'opened' }, { disputes: [shown(ids, { feeCurrency: 'USD', ...more })] });
    const fees = () =>
      rows(
        `select currency, sum(case side when 'debit' then amount else -amount end)::int as sum from ledger_entries
       where payment_id = $1 and account = 'dispute_fees' group by currency`,
        ids.paymentId,
      );
    await see({});
    await see({ fee: 1_500n });
    await see({ fee: 3_000n });
    expect(await fees()).toEqual([{ currency: 'USD', sum: 3_000 }]);
    await see({ status: 'won', fee: 1_500n });
    await see({ fee: 1_500n });
    expect(await fees()).toEqual([{ currency: 'USD', sum: 1_500 }]);
    expect(await standing(ids)).toMatchObject({ disputes: [{ status: 'won', fee: 1_500n }] });
    await see({ status: 'won', fee: 0n, feeCurrency: null });
    expect(await fees()).toEqual([{ currency: 'USD', sum: 0 }]);
  });
});

it('the timeline and the payment tell of it, each line after what caused it', async () => {
  const ids = await paidOrder();
  await dispute(db.pool, { ...ids, status: 'opened', fee: 1_500n }, REVOKE);
  await dispute(db.pool, { ...ids, status: 'lost', fee: 1_500n }, REVOKE);
  const lines = (await readTimeline(db.pool, 'sim', ids.paymentId)).flatMap((row) =>
    timelineEntries(row, false).map(({ text }) => text),
  );
  const name = `sim:${ids.disputeId}`;
  const order = [
    `dispute ${name} opened (100.00 EUR)`,
    `ledger dispute_opened:${name}`,
    `dispute ${name} opened → lost (100.00 EUR)`,
    `ledger dispute_lost:${name}`,
  ].map((begin) => lines.findIndex((line) => line.startsWith(begin)));
  expect(order).not.toContain(-1);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(lines).toContainEqual(expect.stringContaining(`loyalty -100 points by dispute:${name}`));
  expect(lines).toContainEqual(expect.stringContaining(`booking seat cancelled by dispute:${name}`));
  expect(await readPayment(db.pool, 'sim', ids.paymentId)).toMatchObject({
    disputes: [{ dispute_id: ids.disputeId, status: 'lost', amount: 10_000n, fee: 1_500n, fee_currency: 'EUR' }],
  });
});

it('the history takes no step that its table does not have', async () => {
  const step = (more: object) =>
    inTransaction(db.pool, (tx) =>
      recordTransition(tx, {
        machine: 'dispute',
        objectId: 'sim:dp_x',
        from: 'won',
        to: 'opened',
        cause: 'look',
        ...more,
      }),
    );
  await expect(step({})).rejects.toThrow('A dispute never goes from won to opened');
  await expect(step({ machine: 'refund', from: 'failed', to: 'pending' })).rejects.toThrow('A refund never goes');
  expect(await rows(`select from state_transitions where object_id = 'sim:dp_x'`)).toEqual([]);
});

it('after all of this the audit finds nothing of disputes to say', async () => {
  const { violations } = await runAudit(db.pool);
  // Events and orders were written by the test, without deliveries or history.
  const about = violations.filter(({ invariant }) => !['event_was_delivered', 'order_history'].includes(invariant));
  expect(about).toEqual([]);
});
