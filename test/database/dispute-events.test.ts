import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { timelineEntries } from '../../src/api/timeline-entry.ts';
import { runAudit } from '../../src/database/audit.ts';
import { inTransaction } from '../../src/database/pool.ts';
import { readPayment } from '../../src/database/read-payment.ts';
import { readTimeline } from '../../src/database/read-timeline.ts';
import { recordTransition } from '../../src/database/record-transition.ts';
import { replayEvent } from '../../src/database/replay-event.ts';
import type { DisputeFacts } from '../../src/domain/gateway-facts.ts';
import { openDisputeLab, type DisputeLab } from '../support/dispute-lab.ts';
import { facts, look, refundFacts } from '../support/seed.ts';
import { dispute, tellDispute } from '../support/seed-disputes.ts';

let lab: DisputeLab;
beforeAll(async () => {
  lab = await openDisputeLab();
});
afterAll(() => lab.db.drop());

const REVOKE = { policies: { disputeLost: 'revoke' } } as const;
describe('an event about a dispute', () => {
  it('that lacks the amount is held, never taken for zero, and applied when another one tells it', async () => {
    const ids = await lab.paidOrder();
    const held = await tellDispute(lab.db.pool, { ...ids, status: 'lost', amount: null, minute: 2 });
    expect(await look(lab.db.pool, facts({ paymentId: ids.paymentId, orderId: ids.orderId }))).toMatchObject({
      needsHuman: true,
    });
    expect(await lab.rows('select from disputes where payment_id = $1', ids.paymentId)).toEqual([]);
    const letter = async () => lab.rows('select kind, status from dead_letters where event_id = $1', held);
    expect(await letter()).toEqual([{ kind: 'event_unreadable', status: 'open' }]);
    await dispute(lab.db.pool, { ...ids, status: 'opened', amount: 2_500n, minute: 1 });
    expect(await lab.standing(ids)).toMatchObject({ disputes: [{ status: 'lost', amount: 2_500n }] });
    expect(await letter()).toEqual([{ kind: 'event_unreadable', status: 'recovered' }]);
    expect(await lab.rows('select state from webhook_events where event_id = $1', held)).toEqual([
      { state: 'processed' },
    ]);
  });

  it('of nothing, or of a dispute of another payment, or in another currency, is held', async () => {
    const [ids, other] = [await lab.paidOrder(), await lab.paidOrder()];
    await dispute(lab.db.pool, { ...ids, status: 'opened' });
    for (const wrong of [
      { ...other, status: 'opened', amount: 0n },
      { ...other, disputeId: ids.disputeId, status: 'lost' },
      { ...ids, status: 'lost', currency: 'USD' },
    ] as const) {
      const event = await tellDispute(lab.db.pool, wrong);
      expect(await look(lab.db.pool, facts({ paymentId: wrong.paymentId, orderId: wrong.orderId }))).toMatchObject({
        needsHuman: true,
      });
      expect(await lab.rows('select state from webhook_events where event_id = $1', event)).toEqual([
        { state: 'held' },
      ]);
    }
    expect(await lab.standing(ids)).toMatchObject({ disputes: [{ status: 'opened' }] });
  });

  it('that is replayed changes nothing', async () => {
    const ids = await lab.paidOrder();
    const event = await tellDispute(lab.db.pool, { ...ids, status: 'lost', fee: 3n });
    await look(lab.db.pool, facts({ paymentId: ids.paymentId, orderId: ids.orderId }));
    const before = [await lab.standing(ids), await lab.announced(ids.paymentId)];
    await replayEvent(lab.db.pool, 'sim', event);
    await look(lab.db.pool, facts({ paymentId: ids.paymentId, orderId: ids.orderId }));
    expect([await lab.standing(ids), await lab.announced(ids.paymentId)]).toEqual(before);
  });
});

describe('where the gateway shows its disputes', () => {
  const shown = (ids: { disputeId: string; paymentId: string }, more: Partial<DisputeFacts>): DisputeFacts => ({
    ...{ disputeId: ids.disputeId, paymentId: ids.paymentId, status: 'opened', amount: 10_000n, currency: 'EUR' },
    ...{ withheld: true, fee: null, feeCurrency: null, openedAt: null, ...more },
  });

  it('what it shows is the truth: an event that claims more waits, an older one is old news', async () => {
    const ids = await lab.paidOrder();
    const waiting = await dispute(lab.db.pool, { ...ids, status: 'lost' }, { disputes: [shown(ids, {})] });
    expect(waiting).toMatchObject({ pendingEvents: 1, waitingFor: 'gateway' });
    expect(await lab.standing(ids)).toMatchObject({ disputes: [] });
    await look(lab.db.pool, facts({ paymentId: ids.paymentId, orderId: ids.orderId }), {
      disputes: [shown(ids, { status: 'lost' })],
    });
    await dispute(lab.db.pool, { ...ids, status: 'opened' }, { disputes: [shown(ids, { status: 'lost' })] });
    expect(await lab.standing(ids)).toMatchObject({ disputes: [{ status: 'lost' }] });
    const unknown = await dispute(lab.db.pool, { ...ids, disputeId: 'dp_unknown', status: 'opened' }, { disputes: [] });
    expect(unknown).toMatchObject({ pendingEvents: 1 });
  });

  it.each([
    ['opened', ['opened'], 10_000, 0],
    ['won', ['opened', 'won'], 0, 0],
    ['lost', ['opened', 'lost'], 0, 10_000],
    ['lost', ['lost'], 0, 10_000],
    ['won', [], 0, 0],
  ] as const)(
    'an inquiry flags the order and withholds nothing; what it becomes is booked then (%s after %j)',
    async (end, then, withheld, lost) => {
      const ids = await lab.paidOrder();
      const see = (more: Partial<DisputeFacts>) =>
        dispute(lab.db.pool, { ...ids, status: 'opened' }, { disputes: [shown(ids, more)] });
      const books = () =>
        lab.rows(
          `select account, sum(case side when 'debit' then amount else -amount end)::int as sum from ledger_entries
           where payment_id = $1 and account in ('disputed_funds', 'chargeback_losses') group by account having
           sum(case side when 'debit' then amount else -amount end) <> 0`,
          ids.paymentId,
        );
      await see({ withheld: false });
      await see({ withheld: false });
      expect(await books()).toEqual([]);
      expect(await lab.standing(ids)).toMatchObject({ disputes: [{ status: 'opened' }], order: [{ disputed: true }] });
      for (const status of then) await see({ status });
      // From a replica that lags: an inquiry again.
      await see({ withheld: false, ...(then.length === 0 && { status: end }) });
      expect(await lab.standing(ids)).toMatchObject({ disputes: [{ status: end }] });
      expect(await books()).toEqual([
        ...(withheld > 0 ? [{ account: 'disputed_funds', sum: withheld }] : []),
        ...(lost > 0 ? [{ account: 'chargeback_losses', sum: lost }] : []),
      ]);
    },
  );

  describe('what it shows of one that had ended ends in the books, or before a person, and is never passed over', () => {
    const INQUIRY = { status: 'opened', withheld: false } as const;
    const CLOSED = { status: 'won', withheld: false } as const;
    const booksOf = (ids: { paymentId: string }) =>
      lab.rows(
        `select account, sum(case side when 'debit' then amount else -amount end)::int as sum from ledger_entries
         where payment_id = $1 group by account having sum(case side when 'debit' then amount else -amount end) <> 0 order by 1`,
        ids.paymentId,
      );
    const storyOf = async (ids: { disputeId: string; paymentId: string }) => [
      await lab.rows(
        `select from_status || ' → ' || to_status as step from state_transitions where machine = 'dispute' and object_id = $1
         and from_status is not null order by id`,
        `sim:${ids.disputeId}`,
      ),
      (await lab.announced(ids.paymentId)).map((row) => (row as { event_type: string }).event_type),
    ];
    const SALES = { account: 'sales', sum: -10_000 };
    const GATEWAY = { account: 'gateway_receivable:sim', sum: 10_000 };

    it.each([
      ['opened', [{}], [{ account: 'disputed_funds', sum: 10_000 }, SALES]],
      ['lost', [{ status: 'lost' }], [{ account: 'chargeback_losses', sum: 10_000 }, SALES]],
      ['lost', [{}, { status: 'lost' }], [{ account: 'chargeback_losses', sum: 10_000 }, SALES]],
      ['won', [{}, { status: 'won' }], [GATEWAY, SALES]],
      ['won', [{ status: 'lost' }, { status: 'won' }], [GATEWAY, SALES]],
    ] as const)('an inquiry that had ended, and becomes %s by %j', async (end, then, books) => {
      const ids = await lab.paidOrder();
      const see = (more: Partial<DisputeFacts>) =>
        dispute(lab.db.pool, { ...ids, status: 'opened' }, { disputes: [shown(ids, more)] });
      await see(INQUIRY);
      await see(CLOSED);
      expect(await booksOf(ids)).toEqual([GATEWAY, SALES]);
      // Each told twice: a repeat changes nothing.
      for (const more of then) for (const _ of [1, 2]) expect(await see(more)).toMatchObject({ pendingEvents: 0 });
      expect(await booksOf(ids)).toEqual(books);
      expect(await lab.standing(ids)).toMatchObject({
        disputes: [{ status: end }],
        order: [{ status: 'paid', disputed: end !== 'won' }],
      });
      const states = ['opened', 'won', ...then.map((more) => ('status' in more ? more.status : 'opened'))];
      expect(await storyOf(ids)).toEqual([
        states.slice(1).map((to, n) => ({ step: `${states[n] ?? ''} → ${to}` })),
        states.map((to) => `dispute.${to}`),
      ]);
    });

    it.each([
      ['won', { status: 'won' }],
      ['lost', { status: 'lost' }],
      ['won as an inquiry', CLOSED],
    ] as const)(
      'one that was %s and is shown open again: looked at again, then put before a person',
      async (_, end) => {
        const ids = await lab.paidOrder();
        const open = { disputes: [shown(ids, end === CLOSED ? INQUIRY : {})] };
        await dispute(lab.db.pool, { ...ids, status: 'opened' }, { disputes: [shown(ids, end)] });
        const before = [await lab.standing(ids), await booksOf(ids)];
        const event = await tellDispute(lab.db.pool, { ...ids, status: 'opened' });
        const paid = facts({ paymentId: ids.paymentId, orderId: ids.orderId });
        let at = Date.now();
        for (const waits of [5_000, 30_000, 300_000, 3_600_000]) {
          expect(await look(lab.db.pool, paid, { ...open, at: new Date(at) })).toMatchObject({
            ...{ pendingEvents: 1, nextLookMs: waits, needsHuman: false },
          });
          at += waits;
        }
        expect(await look(lab.db.pool, paid, { ...open, at: new Date(at) })).toMatchObject({ needsHuman: true });
        expect(await lab.rows('select kind, status, last_error from dead_letters where event_id = $1', event)).toEqual([
          { kind: 'unknown_at_gateway', status: 'open', last_error: expect.stringContaining('although it had ended') },
        ]);
        expect([await lab.standing(ids), await booksOf(ids)]).toEqual(before);
        // What it ends as is booked all the same.
        await dispute(lab.db.pool, { ...ids, status: 'lost' }, { disputes: [shown(ids, { status: 'lost' })] });
        expect(await booksOf(ids)).toEqual([{ account: 'chargeback_losses', sum: 10_000 }, SALES]);
      },
    );

    it.each([[['won', 'lost']], [['lost', 'won', 'lost']], [['won', 'lost', 'won', 'lost', 'won']]] as const)(
      'one that is %j by turns stands in the books as the last of them, with each told',
      async (ends) => {
        const ids = await lab.paidOrder();
        for (const status of ends) {
          for (const _ of [1, 2])
            await dispute(lab.db.pool, { ...ids, status: 'opened' }, { disputes: [shown(ids, { status })] });
          const lost = { account: 'chargeback_losses', sum: 10_000 };
          expect(await booksOf(ids)).toEqual(status === 'lost' ? [lost, SALES] : [GATEWAY, SALES]);
        }
        expect((await storyOf(ids))[1]).toEqual(['opened', ...ends].map((status) => `dispute.${status}`));
      },
    );
  });

  it('its fee comes in the currency of the account, grows and shrinks with what is charged, and an end is never taken back', async () => {
    const ids = await lab.paidOrder();
    const see = (more: Partial<DisputeFacts>) =>
      dispute(lab.db.pool, { ...ids, status: 'opened' }, { disputes: [shown(ids, { feeCurrency: 'USD', ...more })] });
    const fees = () =>
      lab.rows(
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
    expect(await lab.standing(ids)).toMatchObject({ disputes: [{ status: 'won', fee: 1_500n }] });
    await see({ status: 'won', fee: 0n, feeCurrency: null });
    expect(await fees()).toEqual([{ currency: 'USD', sum: 0 }]);
  });
});

it('the timeline and the payment tell of it, each line after what caused it', async () => {
  const ids = await lab.paidOrder();
  await dispute(lab.db.pool, { ...ids, status: 'opened', fee: 1_500n }, REVOKE);
  await dispute(lab.db.pool, { ...ids, status: 'lost', fee: 1_500n }, REVOKE);
  const lines = (await readTimeline(lab.db.pool, 'sim', ids.paymentId)).flatMap((row) =>
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
  expect(await readPayment(lab.db.pool, 'sim', ids.paymentId)).toMatchObject({
    disputes: [{ dispute_id: ids.disputeId, status: 'lost', amount: 10_000n, fee: 1_500n, fee_currency: 'EUR' }],
  });
});

it('what a refund brought and what its return brought are told each where it happened', async () => {
  const ids = await lab.paidOrder();
  const refund = refundFacts({ refundId: `re_${ids.paymentId}`, paymentId: ids.paymentId, amount: 10_000n });
  for (const status of ['succeeded', 'failed'] as const) {
    const paid = facts({ ...ids, amountRefunded: status === 'failed' ? 0n : 10_000n });
    await look(lab.db.pool, paid, { refunds: [{ ...refund, status }] });
  }
  const rows = await readTimeline(lab.db.pool, 'sim', ids.paymentId);
  const lines = rows.flatMap((row) => timelineEntries(row, true)).map(({ text }) => text);
  const order = [
    /^refund .* succeeded/,
    /^loyalty -100/,
    /^credit note/,
    /^refund .* → failed/,
    /^loyalty \+100 points by/,
  ].map((line) => lines.findIndex((text) => line.test(text)));
  expect(order, lines.join('\n')).not.toContain(-1);
  expect(order, lines.join('\n')).toEqual(order.toSorted((a, b) => a - b));
});

it('the history takes no step that its table does not have', async () => {
  const step = (more: object) =>
    inTransaction(lab.db.pool, (tx) =>
      recordTransition(tx, {
        machine: 'dispute',
        objectId: 'sim:dp_x',
        from: 'lost',
        to: 'opened',
        cause: 'look',
        ...more,
      }),
    );
  await expect(step({})).rejects.toThrow('A dispute never goes from lost to opened');
  await expect(step({ machine: 'refund', from: 'failed', to: 'pending' })).rejects.toThrow('A refund never goes');
  expect(await lab.rows(`select from state_transitions where object_id = 'sim:dp_x'`)).toEqual([]);
});

it('after all of this the audit finds nothing of disputes to say', async () => {
  const { violations } = await runAudit(lab.db.pool);
  // Events and orders were written by the test, without deliveries or history.
  const about = violations.filter(({ invariant }) => !['event_was_delivered', 'order_history'].includes(invariant));
  expect(about).toEqual([]);
});
