import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { openSystem, paymentEvent, type System } from '../support/system.ts';

/** Each meets another fault of the gateway, and then the death of the worker. */
const FAULTS = [
  // Carried out, and the answer on its way for ever.
  { lose_answer: { calls: ['refunds.writes'], next: 3, how: 'hang' } },
  // Begun only when the caller is gone, done while the next one looks.
  { late_work: { calls: ['refunds.writes'], next: 3, how: 'hang', after_ms: [500, 4_000] } },
  // Not even begun.
  { slow_ms: { calls: ['refunds.writes'], next: 3, ms: [3_000, 3_000] } },
];
// No key helps, and no webhook tells what became of a refund: only what is found by our reference keeps it from being made twice.
const ALWAYS = { forget_keys: 1, drop: { calls: ['refund'] } };
/** The call that died with its worker is taken for running until its time is over, 45 s; then it is looked for, twice. */
const SETTLED_MS = 120_000;

let system: System;
beforeAll(async () => {
  system = await openSystem({ servers: 1 });
});
afterAll(() => system.close());

it('a worker that is killed while refunds are on their way leaves each of them one refund', async () => {
  const names = FAULTS.flatMap((_, fault) => [0, 1, 2].map((n) => `${fault}_${n}`));
  for (const name of names) {
    await system.order({ id: `ord_${name}` });
    for (const which of ['kept', 'extra']) await system.pay(`pay_${name}_${which}`, `ord_${name}`);
    await system.deliver(paymentEvent(`pay_${name}_kept`, `ord_${name}`));
    await system.orderIs(`ord_${name}`, { status: 'paid' });
  }
  for (const [fault, settings] of FAULTS.entries()) {
    await system.control('PUT', '/faults', { ...settings, ...ALWAYS });
    const asked = async () => Number((await system.control('GET', '/state')).calls['POST /refunds'] ?? 0);
    const before = await asked();
    for (const n of [0, 1, 2]) {
      await system.deliver(paymentEvent(`pay_${fault}_${n}_extra`, `ord_${fault}_${n}`));
    }
    await eventually('three refunds are on their way', async () => (await asked()) >= before + 3);
  }
  await system.worker.kill('SIGKILL');
  await system.control('PUT', '/faults', ALWAYS);
  await system.worker.restart();
  await system.settled(SETTLED_MS);
  await system.control('POST', '/drain');
  for (const name of names) {
    const id = `extra_capture:sim:pay_${name}_extra`;
    expect(await system.refundsAtGateway(`pay_${name}_extra`)).toMatchObject([
      { amount: 10_000, status: 'succeeded', reference: `refund:${id}` },
    ]);
    expect(await system.refundsAtGateway(`pay_${name}_kept`)).toEqual([]);
    const order = await system.orderIs(`ord_${name}`, { status: 'paid', amount_paid: 10_000, amount_refunded: 0 });
    expect(order.refunds).toMatchObject([{ id, status: 'succeeded' }]);
  }
  await system.settled();
  await system.expectCleanAudit();
}, 240_000);
