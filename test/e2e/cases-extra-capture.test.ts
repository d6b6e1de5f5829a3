import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { paymentStartOptions, refundStartOptions } from '../../src/relay/start-options.ts';
import { digestEffects } from '../support/effects.ts';
import { eventually } from '../support/eventually.ts';
import { openSystem, paymentEvent, type System } from '../support/system.ts';

let system: System;
beforeAll(async () => {
  // Two accounts, each with a gateway of its own.
  system = await openSystem({ gateways: ['east', 'west'], keepGateways: true });
});
afterAll(() => system.close());

type Capture = readonly [source: string, paymentId: string];

const eventId = ([source, paymentId]: Capture) => `evt_${source}_${paymentId}`;

async function deliver(orderId: string, capture: Capture, server?: number): Promise<void> {
  const [source, paymentId] = capture;
  const where = server === undefined ? {} : { server };
  const answer = await system.deliver(paymentEvent(paymentId, orderId), { id: eventId(capture), source, ...where });
  expect(answer.status).toBe(200);
}

/** The order is paid by one of the captures; every other one went back whole, once, and the kept one not at all. */
async function expectOneKept(orderId: string, captures: readonly Capture[]): Promise<Capture> {
  for (const capture of captures) await system.eventIs(eventId(capture), 'processed', capture[0]);
  await system.settled();
  const order = await system.orderIs(orderId, { status: 'paid', amount_paid: 10_000, amount_refunded: 0, surplus: 0 });
  expect(order.payments.filter(({ counted }: any) => counted)).toMatchObject([
    { source: order.paid_source, payment_id: order.paid_payment_id },
  ]);
  for (const [source, paymentId] of captures) {
    const kept = order.paid_source === source && order.paid_payment_id === paymentId;
    const refunds = await system.refundsAtGateway(paymentId, source);
    expect(refunds).toMatchObject(kept ? [] : [{ amount: 10_000, status: 'succeeded' }]);
    const { body } = await system.call('GET', `/v1/payments/${source}/${paymentId}`);
    expect(body.outcome).toBe(kept ? 'marked_paid' : 'extra_payment');
  }
  expect(order.refunds).toHaveLength(captures.length - 1);
  expect(order.consequences.bookings).toHaveLength(1);
  return [order.paid_source, order.paid_payment_id];
}

/** The run of a payment is over, so that whatever comes next is met by another one. */
async function runIsOver([source, paymentId]: Capture): Promise<void> {
  await system.temporal.client.workflow.getHandle(`payment:${source}:${paymentId}`).result();
}

describe('of several captures of one order, one is kept and every other one is given back once', () => {
  const CAPTURES: [string, Capture[]][] = [
    [
      'one gateway',
      [
        ['east', 'first'],
        ['east', 'second'],
      ],
    ],
    [
      'two gateways',
      [
        ['east', 'first'],
        ['west', 'second'],
      ],
    ],
    [
      'two gateways that give their payments the same name',
      [
        ['east', 'same'],
        ['west', 'same'],
      ],
    ],
    ['two gateways, ten in all', Array.from({ length: 10 }, (_, n): Capture => [n % 2 ? 'east' : 'west', `n${n}`])],
  ];

  it.each(CAPTURES)('from %s, one after the run of the other is over', async (name, template) => {
    const orderId = `ord_apart_${name.replaceAll(' ', '_')}`;
    const captures = template.map(([source, id]): Capture => [source, `pay_${orderId}_${id}`]);
    await system.order({ id: orderId });
    for (const [n, capture] of captures.entries()) {
      await system.pay(capture[1], orderId, { source: capture[0] });
      await deliver(orderId, capture, n % 2);
      await system.eventIs(eventId(capture), 'processed', capture[0]);
      await runIsOver(capture);
    }
    expect(await expectOneKept(orderId, captures)).toEqual(captures[0]);
  });

  it.each(CAPTURES)('from %s, in the same instant', async (name, template) => {
    const rounds = template.length > 2 ? 1 : 5;
    for (let round = 0; round < rounds; round += 1) {
      const orderId = `ord_at_once_${round}_${name.replaceAll(' ', '_')}`;
      const captures = template.map(([source, id]): Capture => [source, `pay_${orderId}_${id}`]);
      await system.order({ id: orderId });
      for (const [source, paymentId] of captures) await system.pay(paymentId, orderId, { source });
      await Promise.all(captures.map((capture, n) => deliver(orderId, capture, n % 2)));
      await expectOneKept(orderId, captures);
    }
  });

  it('as a customer makes them who is shown an error and pays again', async () => {
    await system.order({ id: 'ord_again' });
    const { status, body } = await system.call('POST', '/v1/orders/ord_again/checkout', {
      ...{ key: 'checkout', body: { source: 'east' } },
    });
    expect([201, 202]).toContain(status);
    const checkout = await eventually('the checkout has its page', async () => {
      const now = (await system.call('GET', `/v1/orders/ord_again/checkouts/${body.n}`)).body;
      return now.checkout_url !== undefined && now;
    });
    const pay = () => fetch(`${checkout.checkout_url}/pay`, { method: 'POST', redirect: 'manual' });
    await pay();
    await pay();
    const { payments } = await system.control('GET', '/state', undefined, 'east');
    const made: Capture[] = payments
      .filter(({ order_id }: any) => order_id === 'ord_again')
      .map(({ payment_id }: any): Capture => ['east', payment_id]);
    expect(made).toHaveLength(2);
    for (const [, paymentId] of made) {
      const told = await system.call('POST', `/v1/payments/east/${paymentId}/confirm`);
      expect(told.body.outcome).toMatch(/^(marked_paid|already_paid_same_payment|extra_payment)$/);
    }
    await eventually(
      'both webhooks have come',
      async () => (await system.count(`webhook_events where order_id = 'ord_again' and state = 'processed'`)) >= 2,
    );
    await system.settled();
    const order = await system.orderIs('ord_again', { status: 'paid', amount_paid: 10_000 });
    const refunds = await Promise.all(made.map(([, paymentId]) => system.refundsAtGateway(paymentId, 'east')));
    expect(refunds.map((found) => found.length).toSorted((a, b) => a - b)).toEqual([0, 1]);
    expect(await system.refundsAtGateway(order.paid_payment_id, 'east')).toEqual([]);
  });
});

describe('an extra capture while its gateway is away', () => {
  it('is visible meanwhile, and refunded once it is back', async () => {
    await system.order({ id: 'ord_down' });
    for (const id of ['kept', 'extra']) await system.pay(`pay_down_${id}`, 'ord_down', { source: 'east' });
    await deliver('ord_down', ['east', 'pay_down_kept']);
    await system.orderIs('ord_down', { status: 'paid' });
    await system.control('PUT', '/faults', { error_before: { calls: ['refunds'] } }, 'east');
    await deliver('ord_down', ['east', 'pay_down_extra']);
    const refund = { id: 'extra_capture:east:pay_down_extra', payment_id: 'pay_down_extra', kind: 'extra_capture' };
    const waiting = await eventually('it is visible', async () => {
      const { body } = await system.call('GET', '/v1/orders/ord_down');
      return body.refunds.length === 1 && body;
    });
    expect(waiting.refunds).toMatchObject([{ ...refund, status: 'pending', gateway_refund_id: null, amount: 10_000 }]);
    const payment = (await system.call('GET', '/v1/payments/east/pay_down_extra')).body;
    expect(payment).toMatchObject({ outcome: 'extra_payment', counted: false, amount_refunded: 0 });
    const timeline = (await system.call('GET', '/v1/payments/east/pay_down_extra/timeline')).body.data;
    expect(timeline.map(({ kind }: any) => kind)).toContain('refund');
    await eventually('it was tried more than once', async () => {
      const { calls } = await system.control('GET', '/state', undefined, 'east');
      return calls['GET /refunds'] >= 3;
    });
    await system.control('PUT', '/faults', {}, 'east');
    await expectOneKept('ord_down', [
      ['east', 'pay_down_kept'],
      ['east', 'pay_down_extra'],
    ]);
  });

  it('is found out and refunded even if the gateway was gone before anybody could ask it', async () => {
    await system.order({ id: 'ord_gone' });
    for (const id of ['kept', 'extra']) await system.pay(`pay_gone_${id}`, 'ord_gone', { source: 'west' });
    await deliver('ord_gone', ['west', 'pay_gone_kept']);
    await system.orderIs('ord_gone', { status: 'paid' });
    await system.simulators['west']?.kill('SIGKILL');
    await deliver('ord_gone', ['west', 'pay_gone_extra']);
    await eventually('somebody who asks sees why nothing happens', async () => {
      const { body } = await system.call('GET', '/v1/events/west/evt_west_pay_gone_extra');
      return body.state === 'pending' && typeof body.last_error === 'string' && body.last_error.includes('west');
    });
    // The other gateway has nothing to do with it.
    await system.order({ id: 'ord_east' });
    await system.pay('pay_east', 'ord_east', { source: 'east' });
    await deliver('ord_east', ['east', 'pay_east']);
    await system.orderIs('ord_east', { status: 'paid' });
    await system.simulators['west']?.restart();
    await expectOneKept('ord_gone', [
      ['west', 'pay_gone_kept'],
      ['west', 'pay_gone_extra'],
    ]);
  });
});

describe('a second run of a payment repeats nothing', () => {
  const KEPT: Capture = ['east', 'pay_runs_kept'];
  const EXTRA: Capture = ['east', 'pay_runs_extra'];
  const RUNS = [
    'payment:east:pay_runs_kept',
    'payment:east:pay_runs_extra',
    'refund:extra_capture:east:pay_runs_extra',
  ];

  beforeAll(async () => {
    await system.order({ id: 'ord_runs' });
    for (const capture of [KEPT, EXTRA]) {
      await system.pay(capture[1], 'ord_runs', { source: 'east' });
      await deliver('ord_runs', capture);
      await system.eventIs(eventId(capture), 'processed', 'east');
    }
    await system.settled();
  });

  /** Every way in which somebody may start the runs again, each at once from two sides. */
  async function startAgain(): Promise<void> {
    const { workflow } = system.temporal.client;
    const refund = { refundId: 'extra_capture:east:pay_runs_extra', source: 'east', paymentId: EXTRA[1] };
    const about = { ...refund, orderId: 'ord_runs' };
    const twice = (start: () => Promise<unknown>) => [start(), start()];
    await Promise.all([
      ...twice(() => workflow.start('refundPayment', refundStartOptions(about))),
      ...[KEPT, EXTRA].flatMap((capture) => [
        ...twice(() => workflow.start('processPayment', paymentStartOptions('east', capture[1], 'ord_runs'))),
        ...twice(() => deliver('ord_runs', capture)),
        ...twice(() => system.call('POST', `/v1/events/east/${eventId(capture)}/replay`)),
      ]),
    ]);
    await Promise.all(RUNS.map((id) => workflow.getHandle(id).result()));
    await system.settled();
  }

  it('when it comes after the first one', async () => {
    const before = await digestEffects(system.db.pool);
    await startAgain();
    expect(await digestEffects(system.db.pool)).toEqual(before);
    await expectOneKept('ord_runs', [KEPT, EXTRA]);
  });

  it('when two start the first one at once', async () => {
    const { workflow } = system.temporal.client;
    for (let round = 0; round < 5; round += 1) {
      const orderId = `ord_starters_${round}`;
      const capture: Capture = ['west', `pay_starters_${round}`];
      await system.order({ id: orderId });
      await system.pay(capture[1], orderId, { source: 'west' });
      const start = () => workflow.start('processPayment', paymentStartOptions('west', capture[1], orderId));
      const confirm = () => system.call('POST', `/v1/payments/west/${capture[1]}/confirm`);
      await Promise.all([start(), deliver(orderId, capture, 0), start(), deliver(orderId, capture, 1), confirm()]);
      expect(await expectOneKept(orderId, [capture])).toEqual(capture);
    }
  });
});

it('leaves books in which every promise holds', async () => {
  await system.settled();
  await system.expectCleanAudit();
});
