import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type MoneySystem, openMoneySystem } from '../support/money-system.ts';
import { signedWebhook } from '../support/signed-webhook.ts';

let system: MoneySystem;
beforeAll(async () => {
  system = await openMoneySystem({ env: { DATABASE_POOL_MAX: '5' } });
});
afterAll(() => system.close());
afterEach(() => system.faults({}));

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
const refund = (key: string, payment_id: string, amount: number) =>
  system.post('/v1/refunds', { key, body: { source: 'sim', payment_id, amount } });

async function deliver(id: string): Promise<{ status: number; ms: number }> {
  const data = { payment_id: `pay_${id}`, order_id: `ord_${id}`, status: 'captured', amount: 1, currency: 'EUR' };
  const body = { type: 'payment.captured', timestamp: new Date().toISOString(), data };
  const began = performance.now();
  const server = system.servers[Math.floor(Math.random() * 2)];
  const answer = await fetch(`${server?.url}/webhooks/sim`, signedWebhook(system.sim.webhookSecret, body, { id }));
  return { status: answer.status, ms: performance.now() - began };
}

describe('a gateway that takes 10 s, with five connections for fifty refunds', () => {
  it('holds up neither webhooks nor health checks, and every refund is made once', async () => {
    const { paymentId } = await system.paid('silent', 1_000);
    await system.faults({ slow_ms: { ms: [10_000, 10_000], calls: ['refunds.writes'] } });
    const asked = Promise.all(numbers(50).map((n) => refund(`silent-${n}`, paymentId, 20)));
    await eventually(
      'they wait',
      async () => (await system.count('idempotency_keys where reservation is not null')) >= 50,
    );
    const acks = await Promise.all(numbers(50).map((n) => deliver(`evt_silent_${n}`)));
    expect(acks.map(({ status }) => status)).toEqual(Array(50).fill(200));
    // A gateway gives up after 5 s; half of that is far more than an insert takes on a busy machine.
    expect(Math.max(...acks.map(({ ms }) => ms))).toBeLessThan(2_500);
    for (const server of system.servers) expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    const answers = await asked;
    for (const { status, headers } of answers) {
      expect([202, 503]).toContain(status);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(answers.filter(({ status }) => status === 202).length).toBeGreaterThan(40);
    await eventually(
      'all are made',
      async () => (await system.count(`refunds where payment_id = $1 and status = 'succeeded'`, paymentId)) === 50,
      // The gateway's slowness meets our own time limit: some are found by their reference, on a busy machine late.
      120_000,
    );
    const { refunds } = await system.atGateway();
    expect(refunds.filter((one) => one['payment_id'] === paymentId)).toHaveLength(50);
  }, 180_000);
});

describe('a database that cannot be had in time', () => {
  it('is answered 503 with Retry-After, nothing is stored, and the same key goes through later', async () => {
    const { paymentId } = await system.paid('starved', 1_000);
    const holder = await system.db.pool.connect();
    try {
      await holder.query('begin; lock table idempotency_keys in access exclusive mode');
      // They fill both pools, and time out in them; one after another would wait for the lock alone.
      const answers = await Promise.all(numbers(20).map((n) => refund(`starved-${n}`, paymentId, 10)));
      for (const { status, body, headers } of answers) {
        expect([status, body.code]).toEqual([503, 'unavailable']);
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      }
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    expect(await system.count(`idempotency_keys where key like 'starved-%'`)).toBe(0);
    expect(await system.count('refunds where payment_id = $1', paymentId)).toBe(0);
    expect((await refund('starved-0', paymentId, 10)).status).toBe(201);
  });

  it('while a request is under way is no reason to think that it was not taken: the same key finds it', async () => {
    const { paymentId } = await system.paid('lost', 1_000);
    await system.faults({ slow_ms: { ms: [1_000, 1_000], calls: ['refunds.writes'] } });
    const asked = refund('lost', paymentId, 10);
    await eventually('it is taken', () => system.row(`select 1 from idempotency_keys where key = 'lost'`));
    const holder = await system.db.pool.connect();
    try {
      await holder.query('begin; lock table refunds in access exclusive mode');
      const answer = await asked;
      expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
      expect(answer.body.detail).toContain('under the same key');
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    // At once: whoever failed has given up its lease.
    const again = await refund('lost', paymentId, 10);
    expect(again.status).toBe(201);
    expect(await system.count('refunds where payment_id = $1', paymentId)).toBe(1);
  });
});
