import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSystem, paymentEvent, type System } from '../support/system.ts';
import { eventually } from '../support/eventually.ts';

let system: System;
beforeAll(async () => {
  system = await openSystem();
});
afterAll(() => system.close());

const ROUNDS = 500;
const SLOW_ROUNDS = 5;
/** Enough at once that both processes are inside each other's transactions, few enough that nothing queues for seconds. */
const AT_ONCE = 25;
/** The first look that no wake-up asks for comes 5 s after the webhook found no order. */
const SURELY_WOKEN_MS = 4_500;
const LONGEST_MS = 20_000;

/** One order and its webhook, sent in the same instant to different API processes; waits until they have found each other. */
async function round(n: number, webhookAfter?: Promise<unknown>): Promise<void> {
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
  const both =
    webhookAfter !== undefined
      ? [create(), webhookAfter.then(deliver)]
      : n % 4 < 2
        ? [create(), deliver()]
        : [deliver(), create()];
  const statuses = (await Promise.all(both)).map(({ status }) => status).toSorted((a, b) => a - b);
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

async function makePayments(rounds: readonly number[]): Promise<void> {
  await Promise.all(rounds.map((n) => system.pay(`pay_${n}`, `ord_${n}`, { amount: 1_000 + n })));
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

async function expectEachPaidOnce(rounds: readonly number[]): Promise<void> {
  await system.settled();
  const [orders, events] = ['ord', 'evt'].map((kind) => rounds.map((n) => `${kind}_${n}`));
  expect(await system.count(`orders where status = 'paid' and amount_paid = amount_due and id = any($1)`, orders)).toBe(
    rounds.length,
  );
  expect(await system.count(`webhook_events where outcome = 'marked_paid' and event_id = any($1)`, events)).toBe(
    rounds.length,
  );
  expect(await system.count('bookings where order_id = any($1)', orders)).toBe(rounds.length);
}

it(`an order and its webhook that are written in the same instant see each other (${ROUNDS} rounds)`, async () => {
  const rounds = Array.from({ length: ROUNDS }, (_, n) => n);
  for (let from = 0; from < ROUNDS; from += AT_ONCE) {
    const batch = rounds.slice(from, from + AT_ONCE);
    await makePayments(batch);
    await Promise.all(batch.map((n) => round(n)));
  }
  await expectEachPaidOnce(rounds);
}, 120_000);

it('also where the order has looked for what waits and its commit takes a while, and the webhook is taken meanwhile', async () => {
  // The instant between the two is too short to be met by chance, so it is made long.
  await system.db.pool.query(`
    create function take_a_while() returns trigger language plpgsql as $$ begin perform pg_sleep(1); return null; end $$;
    create constraint trigger slow_commit after insert on orders deferrable initially deferred
      for each row execute function take_a_while()`);
  const rounds = Array.from({ length: SLOW_ROUNDS }, (_, n) => ROUNDS + n);
  await makePayments(rounds);
  for (const n of rounds) {
    const committing = eventually('the order is being committed', async () => {
      const { rowCount } = await system.db.pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
      );
      return rowCount === 1;
    });
    await round(n, committing);
  }
  await expectEachPaidOnce(rounds);
});

it('leaves books in which every promise holds', async () => {
  await system.settled();
  await system.expectCleanAudit();
});
