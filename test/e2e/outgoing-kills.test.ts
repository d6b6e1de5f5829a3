import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import type { TestProcess } from '../support/processes.ts';
import { isSignedWith, startReceiver, type Receiver } from '../support/receiver.ts';
import { openSystem, paymentEvent, type System } from '../support/system.ts';

/** Decides which worker is killed, and when. CHAOS_SEED plays another one. */
const SEED = Number(process.env['CHAOS_SEED'] ?? 20_261_130);
const ORDERS = 100;
const KILLS = 5;
/** What died under way is taken up when its lease is over. */
const SETTLED_MS = 150_000;

let system: System;
let receiver: Receiver;
let workers: TestProcess[];
let secret: string;
beforeAll(async () => {
  [system, receiver] = await Promise.all([
    openSystem({ servers: 1, config: { outgoing: { allow_networks: ['127.0.0.0/8'] } } }),
    startReceiver(),
  ]);
  workers = [system.worker, await system.startWorker()];
  const body = { url: receiver.url, event_types: ['order.paid'] };
  ({ secret } = (await system.call('POST', '/v1/endpoints', { body })).body);
});
afterAll(async () => {
  await system.close();
  await receiver.close();
});

/** Numbers from [0, 1), the same ones for the same seed. */
function dice(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

async function paid(name: string): Promise<void> {
  await system.order({ id: `ord_${name}` });
  await system.pay(`pay_${name}`, `ord_${name}`);
  expect((await system.deliver(paymentEvent(`pay_${name}`, `ord_${name}`))).status).toBe(200);
}

const isDone = (orderId: string) =>
  eventually(
    `the webhook of ${orderId} is recorded`,
    () =>
      system.row<{ event_id: string; attempts: number }>(
        `select * from consumer_deliveries where order_id = $1 and status = 'done'`,
        orderId,
      ),
    SETTLED_MS,
  );

it('a worker that is killed between the answer and its record sends again, under the same id', async () => {
  const locker = await system.db.pool.connect();
  await locker.query('begin');
  // The receiver has taken it, and until it is killed the worker cannot write that down.
  const taken = new Promise<void>((resolve) => {
    receiver.answer(async ({ id }) => {
      await locker.query('select from consumer_deliveries where event_id = $1 for update', [id]);
      setImmediate(resolve);
      return { status: 200 };
    });
  });
  await paid('between');
  await taken;
  receiver.answer({ status: 200 });
  await Promise.all(workers.map((worker) => worker.kill('SIGKILL')));
  await locker.query('rollback');
  locker.release();
  expect(await system.count(`consumer_deliveries where status = 'done'`)).toBe(0);
  await Promise.all(workers.map((worker) => worker.restart()));
  const { event_id, attempts } = await isDone('ord_between');
  expect(attempts).toBe(2);
  expect(receiver.received.map(({ id }) => id)).toEqual([event_id, event_id]);
  expect(new Set(receiver.received.map(({ text }) => text)).size).toBe(1);
  expect(await system.count('processed_events where event_id = $1', event_id)).toBe(1);
}, 240_000);

it('a worker that is shut down lets go of what it has under way, and the next one goes on at once', async () => {
  receiver.answer({ status: 200, silent: true });
  await paid('shut_down');
  const told = () => receiver.received.filter(({ body }) => body.data.order_id === 'ord_shut_down');
  await eventually('the receiver has it, and says nothing', async () => told().length === 1);
  await Promise.all(workers.map((worker) => worker.kill('SIGTERM')));
  expect(
    await system.row(`select status, leased_until from consumer_deliveries where order_id = 'ord_shut_down'`),
  ).toEqual({ status: 'in_progress', leased_until: null });
  receiver.answer({ status: 200 });
  await Promise.all(workers.map((worker) => worker.restart()));
  await isDone('ord_shut_down');
  expect(new Set(told().map(({ id }) => id)).size).toBe(1);
}, 240_000);

it(`whichever workers are killed and whenever, each of ${ORDERS} paid orders is told, under one id (seed ${SEED})`, async () => {
  const roll = dice(SEED);
  receiver.answer(async () => {
    await delay(roll() * 300);
    return { status: roll() < 0.1 ? 503 : 200 };
  });
  const names = Array.from({ length: ORDERS }, (_, n) => `n${n}`);
  async function havoc(): Promise<void> {
    for (let n = 0; n < KILLS; n += 1) {
      await delay(200 + roll() * 1_500);
      const victim = workers[Math.floor(roll() * workers.length)];
      await victim?.kill('SIGKILL');
      await victim?.restart();
    }
  }
  const shop = async (own: readonly string[]) => {
    for (const name of own) await paid(name);
  };
  const shoppers = Array.from({ length: 5 }, (_, at) => names.filter((_name, n) => n % 5 === at));
  await Promise.all([havoc(), ...shoppers.map(shop)]);

  for (const name of names) {
    const { event_id } = await isDone(`ord_${name}`);
    const told = receiver.received.filter(({ body }) => body.data.order_id === `ord_${name}`);
    // At least once outward; once for a receiver that dedupes by the id.
    expect(told.some(({ status }) => status === 200)).toBe(true);
    expect(new Set(told.map(({ id }) => id))).toEqual(new Set([event_id]));
    expect(told.every((webhook) => isSignedWith(secret, webhook))).toBe(true);
  }
  await system.settled(SETTLED_MS);
  expect(await system.count(`dead_letters where status = 'open'`)).toBe(0);
  await system.expectCleanAudit();
}, 300_000);
