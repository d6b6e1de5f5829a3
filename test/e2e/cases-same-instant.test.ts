import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSystem, paymentEvent, type System } from '../support/system.ts';
import { eventually } from '../support/eventually.ts';

let system: System;
beforeAll(async () => {
  system = await openSystem();
});
afterAll(() => system.close());

const ROUNDS = 500;
/** Enough at once that both processes are inside each other's transactions, few enough that nothing queues for seconds. */
const AT_ONCE = 25;
/** The first look that no wake-up asks for comes 5 s after the webhook found no order. */
const SURELY_WOKEN_MS = 4_500;
const LONGEST_MS = 20_000;

/** One order and its webhook, sent in the same instant to different API processes; waits until they have found each other. */
async function round(n: number): Promise<void> {
  const [orderId, paymentId] = [`ord_${n}`, `pay_${n}`];
  const amount = 1_000 + n;
  const create = () =>
    system.call('POST', '/v1/orders', {
      ...{ key: orderId, server: n % 2 },
      body: {
        ...{ id: orderId, currency: 'EUR', amount, customer: { id: 'c' } },
        lines: [{ id: 'l1', kind: 'booking', amount }],
      },
    });
  const deliver = () =>
    system.deliver(paymentEvent(paymentId, orderId, { amount }), { id: `evt_${n}`, server: (n + 1) % 2 });
  // Whichever is written first in the same tick: each way half of the rounds.
  const both = n % 4 < 2 ? [create(), deliver()] : [deliver(), create()];
  const statuses = (await Promise.all(both)).map(({ status }) => status).toSorted();
  expect(statuses).toEqual([200, 201]);
  const began = performance.now();
  await eventually(
    `order ${n} and its webhook have found each other`,
    () => system.row(`select 1 as yes from orders where id = $1 and status = 'paid'`, orderId),
    LONGEST_MS,
  );
  // A busy machine may take that long as well; whether it was the clock stands in the run's history.
  if (performance.now() - began > SURELY_WOKEN_MS) expect(await timersFired(paymentId), `round ${n}`).toEqual([]);
}

/** Seconds of the timers for which a run waited to their end; the shortest ones belong to every run. */
async function timersFired(paymentId: string): Promise<number[]> {
  const { events } = await system.temporal.client.workflow.getHandle(`payment:sim:${paymentId}`).fetchHistory();
  const fired = events?.map((event) => event.timerFiredEventAttributes?.timerId) ?? [];
  return (events ?? [])
    .flatMap(({ timerStartedEventAttributes: timer }) =>
      timer != null && fired.includes(timer.timerId) ? [timer] : [],
    )
    .map((timer) => Number(timer.startToFireTimeout?.seconds ?? 0))
    .filter((seconds) => seconds > 0);
}

it(`an order and its webhook that are written in the same instant see each other (${ROUNDS} rounds)`, async () => {
  const payments = Array.from({ length: ROUNDS }, (_, n) => n);
  for (let from = 0; from < ROUNDS; from += AT_ONCE) {
    const batch = payments.slice(from, from + AT_ONCE);
    await Promise.all(batch.map((n) => system.pay(`pay_${n}`, `ord_${n}`, { amount: 1_000 + n })));
    await Promise.all(batch.map(round));
  }
  await system.settled();
  expect(await system.count(`orders where status = 'paid' and amount_paid = amount_due`)).toBe(ROUNDS);
  expect(await system.count(`webhook_events where state = 'processed' and outcome = 'marked_paid'`)).toBe(ROUNDS);
  expect(await system.count('bookings')).toBe(ROUNDS);
}, 120_000);

it('leaves books in which every promise holds', async () => {
  await system.settled();
  await system.expectCleanAudit();
});
