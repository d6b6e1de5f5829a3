import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decideDeadLetter } from '../../src/database/decide-dead-letter.ts';
import { runAudit } from '../../src/database/audit.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import { DISPUTED_LINES, openDisputeLab, type DisputeLab } from '../support/dispute-lab.ts';
import { facts, look, refundFacts, seedOrder } from '../support/seed.ts';
import { dispute, type SeededDispute } from '../support/seed-disputes.ts';

let lab: DisputeLab;
beforeAll(async () => {
  lab = await openDisputeLab();
});
afterAll(() => lab.db.drop());

const REVOKE = { policies: { disputeLost: 'revoke' } } as const;
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
    const ids = await lab.paidOrder();
    for (const report of order) await dispute(lab.db.pool, { ...ids, ...report }, more);
    for (const report of order) await dispute(lab.db.pool, { ...ids, ...report }, more);
    const end = await lab.standing(ids);
    ends.push({ ...end, disputes: end.disputes.map((row) => ({ ...(row as object), dispute_id: 'dp' })) });
  }
  const [first, ...others] = ends;
  for (const other of others) expect(other).toEqual(first);
  return first;
}

describe('a dispute of a counted payment', () => {
  it('withholds its money and its fee while it is open, flags the order, which stays paid, and is told once', async () => {
    const ids = await lab.paidOrder();
    await dispute(lab.db.pool, { ...ids, status: 'opened', amount: 4_000n, fee: 1_500n });
    await dispute(lab.db.pool, { ...ids, status: 'opened', amount: 4_000n, fee: 1_500n });
    expect(await lab.standing(ids)).toMatchObject({
      disputes: [{ status: 'opened', amount: 4_000n, fee: 1_500n }],
      order: [{ status: 'paid', disputed: true }],
      books: [
        { account: 'dispute_fees', sum: 1_500 },
        { account: 'disputed_funds', sum: 4_000 },
        { account: 'gateway_receivable:sim', sum: 4_500 },
        { account: 'sales', sum: -10_000 },
      ],
    });
    expect(await lab.announced(ids.paymentId)).toEqual([
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
    const [late, usual] = [await lab.paidOrder(), await lab.paidOrder()];
    await dispute(lab.db.pool, { ...late, status: 'lost', fee: 7n });
    await dispute(lab.db.pool, { ...usual, status: 'opened', fee: 7n });
    await dispute(lab.db.pool, { ...usual, status: 'lost', fee: 7n });
    const told = async (ids: typeof late) => ({
      history: await lab.rows(
        `select from_status, to_status from state_transitions where machine = 'dispute' and payment_id = $1 order by id`,
        ids.paymentId,
      ),
      postings: await lab.rows(
        `select distinct split_part(source_event_id, ':', 1) as posting from ledger_entries where payment_id = $1 order by 1`,
        ids.paymentId,
      ),
      announced: (await lab.announced(ids.paymentId)).map((row) => (row as { event_type: string }).event_type),
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
    const ids = await lab.paidOrder();
    const [a, b] = [`${ids.disputeId}_a`, `${ids.disputeId}_b`];
    await dispute(lab.db.pool, { ...ids, disputeId: a, status: 'opened', amount: 3_000n });
    await dispute(lab.db.pool, { ...ids, disputeId: b, status: 'opened', amount: 2_000n });
    await dispute(lab.db.pool, { ...ids, disputeId: a, status: 'won', amount: 3_000n });
    expect(await lab.standing(ids)).toMatchObject({ order: [{ disputed: true }] });
    await dispute(lab.db.pool, { ...ids, disputeId: b, status: 'won', amount: 2_000n });
    expect(await lab.standing(ids)).toMatchObject({ order: [{ disputed: false }] });
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
      const ids = await lab.paidOrder();
      const refunds = [refundFacts({ refundId: `rf_${ids.paymentId}`, paymentId: ids.paymentId, amount: 5_000n })];
      for (const step of order) {
        if (step === 'refund')
          await look(lab.db.pool, facts({ paymentId: ids.paymentId, orderId: ids.orderId }), { refunds });
        else {
          const disputeId = `${ids.disputeId}_${step}`;
          const amount = step === 'dispute_a' ? 2_000n : 3_000n;
          await dispute(lab.db.pool, { ...ids, disputeId, status: 'lost', amount }, REVOKE);
        }
        const kept = await lab.rows('select status from bookings where order_id = $1', ids.orderId);
        expect(kept).toEqual([{ status: step === order.at(-1) ? 'cancelled' : 'confirmed' }]);
      }
      const { disputes: _, ...end } = await lab.standing(ids);
      ends.push(end);
    }
    expect(ends[0]).toMatchObject({ stands: [{ points: 0 }], credit_notes: [{ amount: 5_000n }] });
    for (const end of ends) expect(end).toEqual(ends[0]);
  });

  it('and is won after all gives back the points, and what was stopped', async () => {
    const ids = await lab.paidOrder();
    await dispute(lab.db.pool, { ...ids, status: 'lost', minute: 1 }, REVOKE);
    await dispute(lab.db.pool, { ...ids, status: 'won', minute: 2 }, REVOKE);
    expect(await lab.standing(ids)).toMatchObject({
      order: [{ disputed: false, amount_charged_back: 0n }],
      stands: [{ points: 100, bookings: 'confirmed' }],
    });
  });

  it('is judged by the policy of the day on which it was lost', async () => {
    const ids = await lab.paidOrder();
    await dispute(lab.db.pool, { ...ids, status: 'lost', minute: 1 });
    await dispute(lab.db.pool, { ...ids, status: 'lost', minute: 2 }, REVOKE);
    expect(await lab.standing(ids)).toMatchObject({ order: [{ amount_charged_back: 0n }] });
  });

  it('before its order is complete counts when it is', async () => {
    const ids = lab.ids();
    await seedOrder(lab.db.pool, { id: ids.orderId, lines: DISPUTED_LINES });
    await look(lab.db.pool, facts({ paymentId: ids.paymentId, orderId: ids.orderId, amount: 4_000n }));
    await dispute(lab.db.pool, { ...ids, disputeId: ids.disputeId, status: 'lost', amount: 4_000n }, REVOKE);
    await look(lab.db.pool, facts({ orderId: ids.orderId, paymentId: `${ids.paymentId}_rest`, amount: 6_000n }));
    expect(await lab.standing(ids)).toMatchObject({ stands: [{ points: 60, bookings: 'confirmed' }] });
  });
});

describe('a dispute of a payment that does not count', () => {
  it('because it is extra is recorded with its order', async () => {
    const ids = await lab.paidOrder();
    const extra = { orderId: ids.orderId, paymentId: `${ids.paymentId}_extra`, disputeId: `${ids.disputeId}_extra` };
    await look(lab.db.pool, facts({ paymentId: extra.paymentId, orderId: extra.orderId }));
    await dispute(lab.db.pool, { ...extra, status: 'lost' }, REVOKE);
    expect(await lab.standing(extra)).toMatchObject({
      disputes: [{ status: 'lost', charged_back: 0n }],
      order: [{ status: 'paid', disputed: true, amount_charged_back: 0n }],
      stands: [{ points: 100, bookings: 'confirmed' }],
    });
  });

  it('because its order is not there yet is recorded, and finds the order when it is', async () => {
    const ids = lab.ids();
    const seen = await dispute(lab.db.pool, { ...ids, disputeId: ids.disputeId, status: 'lost' }, REVOKE);
    expect(seen).toMatchObject({ waitingFor: 'order', needsHuman: false });
    expect(await lab.rows('select order_id, status from disputes where payment_id = $1', ids.paymentId)).toEqual([
      { order_id: null, status: 'lost' },
    ]);
    expect(await lab.announced(ids.paymentId)).toMatchObject([
      { payload: { order_id: null } },
      { payload: { order_id: null } },
    ]);
    await seedOrder(lab.db.pool, { id: ids.orderId, lines: DISPUTED_LINES });
    await look(lab.db.pool, facts({ paymentId: ids.paymentId, orderId: ids.orderId }));
    expect(await lab.standing(ids)).toMatchObject({
      disputes: [{ charged_back: 10_000n }],
      order: [{ status: 'paid', disputed: true }],
      stands: [{ points: 0, bookings: 'cancelled' }],
    });
    expect(await lab.announced(ids.paymentId)).toHaveLength(2);
  });

  it('and waits for a person is recorded at once; counted by the person, it counts with what it lost', async () => {
    const ids = lab.ids();
    await seedOrder(lab.db.pool, { id: ids.orderId, lines: DISPUTED_LINES });
    await lab.db.pool.query(`update orders set status = 'cancelled' where id = $1`, [ids.orderId]);
    await look(lab.db.pool, facts({ paymentId: ids.paymentId, orderId: ids.orderId }), {
      policies: { lateCapture: 'review' },
    });
    const review = { policies: { lateCapture: 'review', disputeLost: 'revoke' } } as const;
    await dispute(lab.db.pool, { ...ids, disputeId: ids.disputeId, status: 'lost' }, review);
    expect(await lab.rows('select state from webhook_events where payment_id = $1', ids.paymentId)).toEqual([
      { state: 'processed' },
    ]);
    await decideDeadLetter(
      lab.db.pool,
      {
        ...{ deadLetterId: `late_capture:sim:${ids.paymentId}`, action: 'accept', note: 'counts', by: 'shop' },
        ...{ outcome: null, gatewayId: null },
      },
      { ...DEFAULT_POLICIES, ...review.policies },
    );
    expect(await lab.standing(ids)).toMatchObject({
      order: [{ status: 'paid', disputed: true, amount_charged_back: 10_000n }],
      stands: [{ points: 0, bookings: 'cancelled' }],
    });
  });
});

it('after all of this the audit finds nothing of disputes to say', async () => {
  const { violations } = await runAudit(lab.db.pool);
  // Events and orders were written by the test, without deliveries or history.
  const about = violations.filter(({ invariant }) => !['event_was_delivered', 'order_history'].includes(invariant));
  expect(about).toEqual([]);
});
