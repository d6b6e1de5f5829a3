import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openSystem, paymentEvent, type System } from '../support/system.ts';
import { eventually } from '../support/eventually.ts';

let system: System;
beforeAll(async () => {
  system = await openSystem({ temporalProxy: true });
});
afterAll(() => system.close());

function temporalIsBack(): void {
  system.temporalProxy.delayMs = 0;
  system.temporalProxy.restore();
}
afterEach(temporalIsBack);

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

async function makeOrders(name: string, count: number): Promise<void> {
  await Promise.all(
    numbers(count).map(async (n) => {
      await system.order({ id: `ord_${name}_${n}` });
      await system.pay(`pay_${name}_${n}`, `ord_${name}_${n}`);
    }),
  );
}

const deliver = (name: string, n: number) =>
  system.deliver(paymentEvent(`pay_${name}_${n}`, `ord_${name}_${n}`), { id: `evt_${name}_${n}` });

async function expectAllPaidOnce(name: string, count: number): Promise<void> {
  await Promise.all(numbers(count).map((n) => system.orderIs(`ord_${name}_${n}`, { status: 'paid' })));
  const events = `webhook_events where event_id like 'evt_${name}_%'`;
  expect(await system.count(`${events} and state = 'processed' and outcome = 'marked_paid'`)).toBe(count);
  // Nobody had to send anything again.
  expect(await system.count(`webhook_deliveries where event_id like 'evt_${name}_%'`)).toBe(count);
  expect(await system.count(`bookings where order_id like 'ord_${name}_%'`)).toBe(count);
  const payments = `state_transitions where machine = 'payment' and payment_id like 'pay_${name}_%'`;
  expect(await system.count(payments)).toBe(count);
}

describe('while Temporal cannot be reached', () => {
  it('events are taken, the processes stay ready, and all is handed over when it is back, with no redelivery', async () => {
    await makeOrders('away', 10);
    system.temporalProxy.cut();
    const answers = await Promise.all(numbers(10).map((n) => deliver('away', n)));
    expect(answers.map(({ status, body }) => [status, body.duplicate])).toEqual(Array(10).fill([200, false]));
    for (const server of system.servers) {
      const ready = await fetch(`${server.url}/readyz`);
      expect(ready.status).toBe(200);
      expect(await ready.json()).toMatchObject({ status: 'ok', database: 'ok', temporal: 'degraded' });
    }
    expect(
      await system.count(
        `webhook_events where event_id like 'evt_away_%' and handed_over_at is null and state = 'pending'`,
      ),
    ).toBe(10);
    temporalIsBack();
    await expectAllPaidOnce('away', 10);
    const ready = await system.call('GET', '/readyz');
    expect(ready.body).toMatchObject({ status: 'ok', temporal: 'ok' });
  });

  it('a redelivery is a duplicate, and hands nothing over twice', async () => {
    await makeOrders('twice', 5);
    system.temporalProxy.cut();
    for (const n of numbers(5)) await deliver('twice', n);
    const again = await Promise.all(numbers(5).map((n) => deliver('twice', n)));
    expect(again.map(({ status, body }) => [status, body.duplicate])).toEqual(Array(5).fill([200, true]));
    temporalIsBack();
    await Promise.all(numbers(5).map((n) => system.orderIs(`ord_twice_${n}`, { status: 'paid' })));
    await system.settled();
    expect(await system.count(`bookings where order_id like 'ord_twice_%'`)).toBe(5);
    expect(await system.count(`processed_events where event_id like 'sim:evt\\_twice\\_%'`)).toBe(5);
  });

  it('what was taken outlives every process that there is', async () => {
    await makeOrders('killed', 10);
    system.temporalProxy.cut();
    await Promise.all(numbers(10).map((n) => deliver('killed', n)));
    await Promise.all([...system.servers, system.worker].map((one) => one.kill('SIGKILL')));
    // An API process starts, and is ready, with Temporal away.
    await Promise.all(system.servers.map((server) => server.restart()));
    expect((await system.call('GET', '/readyz')).status).toBe(200);
    temporalIsBack();
    await system.worker.restart();
    await expectAllPaidOnce('killed', 10);
  });

  it('a browser that comes back is told to wait, and an order can be made, cancelled and read', async () => {
    await makeOrders('asking', 1);
    system.temporalProxy.cut();
    const confirmed = await system.call('POST', '/v1/payments/sim/pay_asking_0/confirm');
    expect(confirmed).toMatchObject({ status: 200, body: { outcome: 'pending' } });
    await system.order({ id: 'ord_meanwhile', expires_at: new Date(Date.now() + 3_600_000).toISOString() });
    const cancelled = await system.call('POST', '/v1/orders/ord_meanwhile/cancel');
    expect(cancelled).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    temporalIsBack();
    await deliver('asking', 0);
    await expectAllPaidOnce('asking', 1);
  });
});

describe('while Temporal is slow', () => {
  /** Median time to the answer, in milliseconds. */
  async function acknowledged(name: string, count: number): Promise<number> {
    const times: number[] = [];
    for (const n of numbers(count)) {
      const began = performance.now();
      expect((await deliver(name, n)).status).toBe(200);
      times.push(performance.now() - began);
    }
    return times.toSorted((a, b) => a - b)[Math.floor(count / 2)] ?? Infinity;
  }

  const COUNT = 40;

  it('the answer waits for PostgreSQL alone: it comes as fast as ever, and every event is handed over later', async () => {
    await makeOrders('fast', COUNT);
    await makeOrders('slow', COUNT);
    const usual = await acknowledged('fast', COUNT);
    // More than any sender waits.
    system.temporalProxy.delayMs = 20_000;
    const slow = await acknowledged('slow', COUNT);
    expect(await system.count(`webhook_events where event_id like 'evt_slow_%' and handed_over_at is null`)).toBe(
      COUNT,
    );
    // A busy machine may double either; a hand-over that is waited for costs thousands of times as much.
    expect(slow / usual).toBeLessThan(5);
    system.temporalProxy.cut();
    temporalIsBack();
    await expectAllPaidOnce('fast', COUNT);
    await expectAllPaidOnce('slow', COUNT);
  });
});

it('leaves books in which every promise holds', async () => {
  await eventually('every run is over', async () => {
    const open = await system.temporal.client.workflow.count(
      `ExecutionStatus = 'Running' and WorkflowType = 'processPayment'`,
    );
    return open.count === 0;
  });
  await system.settled();
  await system.expectCleanAudit();
});
