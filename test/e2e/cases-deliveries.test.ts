import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSystem, paymentEvent, type System } from '../support/system.ts';

let system: System;
beforeAll(async () => {
  system = await openSystem();
});
afterAll(() => system.close());

const COPIES = 20;

/** A line of every kind that has a consequence. */
const LINES = [
  { id: 'room', kind: 'booking', amount: 4_000 },
  { id: 'cards', kind: 'gift_card', amount: 3_000, quantity: 2 },
  { id: 'pack', kind: 'package', amount: 2_000, quantity: 3 },
  { id: 'mug', kind: 'product', amount: 1_000 },
];

/** The same bytes under the same id, all at once, at both API processes. */
async function deliverCopies(id: string, body: object): Promise<void> {
  const bytes = JSON.stringify(body);
  const answers = await Promise.all(
    Array.from({ length: COPIES }, (_, n) => system.deliver(bytes, { id, server: n % 2 })),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(COPIES).fill(200));
  expect(answers.map(({ body: { received, event_id } }) => [received, event_id])).toEqual(
    Array(COPIES).fill([true, id]),
  );
  expect(answers.filter(({ body: { duplicate } }) => duplicate === false)).toHaveLength(1);
}

async function expectOnceEverything(orderId: string): Promise<void> {
  const order = await system.orderIs(orderId, { status: 'paid' });
  expect(order).toMatchObject({ amount_paid: 10_000, amount_refunded: 0, surplus: 0, refunds: [] });
  expect(order.consequences.bookings).toEqual([{ line_id: 'room', status: 'confirmed' }]);
  expect(order.consequences.gift_cards.map(({ unit, amount }: any) => [unit, amount])).toEqual([
    [1, 1_500],
    [2, 1_500],
  ]);
  expect(order.consequences.packages.map(({ unit }: any) => unit)).toEqual([1, 2, 3]);
  expect(order.consequences.loyalty.map(({ points }: any) => points)).toEqual([100]);
  expect(order.consequences.invoices.map(({ kind, amount }: any) => [kind, amount])).toEqual([['invoice', 10_000]]);
  for (const type of ['order.paid', 'fulfilment.requested']) {
    expect(await system.count('outbox where event_type = $1 and aggregate_id = $2', type, orderId)).toBe(1);
  }
}

async function deliveriesOf(id: string): Promise<number> {
  return (await system.call('GET', `/v1/events/sim/${id}`)).body.deliveries.length;
}

describe('twenty copies of one event, at once and over two API processes', () => {
  it('of a capture: each is answered 200, the event stands once with twenty deliveries, each consequence once', async () => {
    await system.order({ id: 'ord_copies', lines: LINES });
    await system.pay('pay_copies', 'ord_copies');
    await deliverCopies('evt_copies', paymentEvent('pay_copies', 'ord_copies'));
    await system.eventIs('evt_copies', 'processed');
    expect(await deliveriesOf('evt_copies')).toBe(COPIES);
    expect(await system.count(`webhook_events where payment_id = 'pay_copies'`)).toBe(1);
    expect(await system.count(`processed_events where event_id = 'sim:evt_copies'`)).toBe(1);
    await expectOnceEverything('ord_copies');
  });

  it('of a second capture: it is given back once', async () => {
    await system.order({ id: 'ord_extra', lines: LINES });
    for (const n of [1, 2]) {
      await system.pay(`pay_extra_${n}`, 'ord_extra');
      await deliverCopies(`evt_extra_${n}`, paymentEvent(`pay_extra_${n}`, 'ord_extra'));
      await system.eventIs(`evt_extra_${n}`, 'processed');
    }
    await system.settled();
    expect(await system.refundsAtGateway('pay_extra_1')).toEqual([]);
    expect(await system.refundsAtGateway('pay_extra_2')).toMatchObject([{ amount: 10_000, status: 'succeeded' }]);
    expect((await system.orderIs('ord_extra', { status: 'paid' })).payments).toMatchObject([
      { payment_id: 'pay_extra_1', counted: true },
      { payment_id: 'pay_extra_2', counted: false },
    ]);
  });

  it('of a refund that the gateway began: it is recorded once, and taken back from the order once', async () => {
    await system.order({ id: 'ord_back', lines: LINES });
    await system.pay('pay_back', 'ord_back');
    await system.deliver(paymentEvent('pay_back', 'ord_back'));
    await system.orderIs('ord_back', { status: 'paid' });
    const refund = { refund_id: 'rf_back', payment_id: 'pay_back', amount: 2_500, deliver: false };
    await system.control('POST', '/refunds', refund);
    const data = { ...refund, order_id: 'ord_back', status: 'succeeded', currency: 'EUR' };
    await deliverCopies('evt_back', { type: 'refund.succeeded', timestamp: new Date().toISOString(), data });
    await system.eventIs('evt_back', 'processed');
    const order = await system.orderIs('ord_back', { amount_refunded: 2_500 });
    expect(order.refunds).toMatchObject([{ kind: 'gateway', gateway_refund_id: 'rf_back', amount: 2_500 }]);
    expect(order.consequences.loyalty.map(({ points }: any) => points).toSorted()).toEqual([-25, 100]);
    expect(order.consequences.invoices.map(({ kind, amount }: any) => [kind, amount])).toEqual([
      ['invoice', 10_000],
      ['credit_note', 2_500],
    ]);
  });

  it('of a dispute: the order is flagged once, and stays paid', async () => {
    await system.order({ id: 'ord_dispute', lines: LINES });
    await system.pay('pay_dispute', 'ord_dispute');
    await system.deliver(paymentEvent('pay_dispute', 'ord_dispute'));
    await system.orderIs('ord_dispute', { status: 'paid' });
    await deliverCopies('evt_dispute', {
      ...paymentEvent('pay_dispute', 'ord_dispute', { type: 'dispute.opened', dispute_id: 'dp_1' }),
    });
    await system.eventIs('evt_dispute', 'processed');
    await system.orderIs('ord_dispute', { status: 'paid', disputed: true });
    expect(await system.count(`state_transitions where machine = 'dispute' and object_id like '%dp_1'`)).toBe(1);
  });

  it('sent by the gateway itself, which loses half the acknowledgements and sends again', async () => {
    await system.control('PUT', '/faults', { lose_ack: 0.5 });
    await system.order({ id: 'ord_acks', lines: LINES });
    const { event_id } = await system.control('POST', '/payments', {
      ...{ payment_id: 'pay_acks', order_id: 'ord_acks', amount: 10_000, currency: 'EUR', times: COPIES },
    });
    const { drained } = await system.control('POST', '/drain?timeout_ms=20000');
    expect(drained).toBe(true);
    await system.control('PUT', '/faults', {});
    await system.eventIs(event_id, 'processed');
    expect(await deliveriesOf(event_id)).toBeGreaterThan(COPIES);
    await expectOnceEverything('ord_acks');
  });
});

describe('one fact under several names', () => {
  const facts = (name: string) => [
    { id: `evt_${name}_authorized`, event: paymentEvent(`pay_${name}`, `ord_${name}`, { type: 'payment.authorized' }) },
    { id: `evt_${name}_captured`, event: paymentEvent(`pay_${name}`, `ord_${name}`) },
    { id: `evt_${name}_again`, event: paymentEvent(`pay_${name}`, `ord_${name}`) },
    { id: `evt_${name}_checkout`, event: paymentEvent(`pay_${name}`, `ord_${name}`, { type: 'checkout.completed' }) },
  ];

  it.each(['at once', 'one after the other', 'the last one first'])(
    'arriving %s: every event is kept, one of them pays, each consequence stands once',
    async (how) => {
      const name = how.replaceAll(' ', '_');
      await system.order({ id: `ord_${name}`, lines: LINES });
      await system.pay(`pay_${name}`, `ord_${name}`);
      const order = how === 'the last one first' ? facts(name).toReversed() : facts(name);
      if (how === 'at once') {
        await Promise.all(order.map(({ id, event }, n) => system.deliver(event, { id, server: n % 2 })));
      } else {
        for (const { id, event } of order) {
          expect((await system.deliver(event, { id })).status).toBe(200);
          // The run of one event is over before the next one comes: it is a run of its own that must know everything.
          await system.eventIs(id, event.type === 'checkout.completed' ? 'ignored' : 'processed');
        }
      }
      await system.settled();
      const { rows } = await system.db.pool.query<{ event_id: string; state: string; outcome: string }>(
        `select event_id, state, outcome from webhook_events where event_id like $1 order by received_at`,
        [`evt_${name}_%`],
      );
      expect(rows).toHaveLength(4);
      expect(rows.filter(({ outcome }) => outcome === 'marked_paid')).toHaveLength(1);
      expect(rows.filter(({ outcome }) => outcome === 'already_paid_same_payment')).toHaveLength(2);
      expect(rows.filter(({ state }) => state === 'ignored').map(({ event_id }) => event_id)).toEqual([
        `evt_${name}_checkout`,
      ]);
      await expectOnceEverything(`ord_${name}`);
      expect(await system.refundsAtGateway(`pay_${name}`)).toEqual([]);
    },
  );

  it('told by the browser as well: every caller hears the truth, one of all hears that it paid', async () => {
    await system.order({ id: 'ord_browser', lines: LINES });
    await system.pay('pay_browser', 'ord_browser');
    const confirm = () => system.call('POST', '/v1/payments/sim/pay_browser/confirm');
    const [, , ...answers] = await Promise.all([
      system.deliver(paymentEvent('pay_browser', 'ord_browser'), { id: 'evt_browser_1' }),
      system.deliver(paymentEvent('pay_browser', 'ord_browser'), { id: 'evt_browser_2' }),
      confirm(),
      confirm(),
    ]);
    await system.settled();
    const { rows } = await system.db.pool.query<{ outcome: string }>(
      `select outcome from webhook_events where event_id like 'evt_browser_%'`,
    );
    const heard = [...rows, ...answers.map(({ body }) => body)].map(({ outcome }) => String(outcome));
    expect(heard.toSorted()).toEqual([...Array<string>(3).fill('already_paid_same_payment'), 'marked_paid']);
    await expectOnceEverything('ord_browser');
  });
});

it('leaves books in which every promise holds', async () => {
  await system.settled();
  await system.expectCleanAudit();
});
