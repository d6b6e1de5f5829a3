import { afterAll, beforeAll, expect, it } from 'vitest';
import { cancelOrder } from '../../src/database/cancel-order.ts';
import { expireOrder } from '../../src/database/expire-order.ts';
import { createPool, type Pool } from '../../src/database/pool.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { facts, look, refundFacts, seedEvent, seedOrder } from '../support/seed.ts';

let db: TestDatabase;
let other: Pool;
beforeAll(async () => {
  db = await createTestDatabase();
  other = createPool({ url: db.url, max: 5, applicationName: 'other process' });
});
afterAll(async () => {
  await other.end();
  await db.drop();
});

const count = async (sql: string) =>
  Number((await db.pool.query<{ n: bigint }>(`select count(*) as n from ${sql}`)).rows[0]?.n);
const policies = DEFAULT_POLICIES;

it('a refund event and the expiry of the same order never wait for each other in a circle (200 rounds)', async () => {
  const past = new Date(Date.now() - 1_000);
  for (let round = 0; round < 200; round += 1) {
    const orderId = `ord_x${round}`;
    const paymentId = `pay_x${round}`;
    await seedOrder(db.pool, { id: orderId, expiresAt: past });
    await look(db.pool, facts({ paymentId, orderId, amount: 4_000n }));
    for (const n of [1, 2]) {
      await seedEvent(db.pool, {
        id: `evt_x${round}_${n}`,
        paymentId,
        type: 'refund.succeeded',
        objectId: `rf_x${round}`,
      });
    }
    await Promise.all([
      look(db.pool, facts({ paymentId, orderId, amount: 4_000n }), {
        refunds: [refundFacts({ refundId: `rf_x${round}`, paymentId, amount: 1_000n })],
      }),
      expireOrder(other, { orderId, at: new Date(), policies }),
    ]);
  }
  expect(await count(`orders where id like 'ord_x%' and status = 'expired' and amount_refunded = 1000`)).toBe(200);
  // The part that was refunded at the gateway is not given back a second time.
  expect(await count(`refunds where kind = 'late_capture' and status = 'pending' and amount = 3000`)).toBe(200);
  expect(await count(`webhook_events where state = 'processed'`)).toBe(400);
});

it('a capture and the expiry of its order in the same instant leave it paid, or the money on its way back', async () => {
  const past = new Date(Date.now() - 1_000);
  for (let round = 0; round < 100; round += 1) {
    const orderId = `ord_y${round}`;
    await seedOrder(db.pool, { id: orderId, expiresAt: past });
    await Promise.all([
      look(db.pool, facts({ paymentId: `pay_y${round}`, orderId })),
      round % 2 === 0
        ? expireOrder(other, { orderId, at: new Date(), policies })
        : cancelOrder(other, { orderId, policies, cause: 'test' }),
    ]);
    await look(db.pool, facts({ paymentId: `pay_y${round}`, orderId }));
  }
  const paid = await count(`orders where id like 'ord_y%' and status = 'paid'`);
  const back = await count(`refunds where payment_id like 'pay_y%' and kind = 'late_capture' and amount = 10000`);
  expect(paid + back).toBe(100);
  expect(
    await count(`orders o join refunds r on r.order_id = o.id where o.id like 'ord_y%' and o.status = 'paid'`),
  ).toBe(0);
});

it('a stale look never takes a paid order back', async () => {
  await seedOrder(db.pool, { id: 'ord_z' });
  await seedEvent(db.pool, { id: 'evt_z', paymentId: 'pay_z' });
  // A callback read the gateway before the capture and comes to write after the webhook has paid.
  const stale = facts({ paymentId: 'pay_z', orderId: 'ord_z', status: 'pending' });
  await look(db.pool, facts({ paymentId: 'pay_z', orderId: 'ord_z' }));
  const late = await look(db.pool, stale, { callers: ['confirm:late'] });
  expect(late).toMatchObject({ status: 'captured', callerOutcomes: { 'confirm:late': 'already_paid_same_payment' } });
  for (const status of ['failed', 'expired', 'authorized'] as const) {
    await look(db.pool, facts({ paymentId: 'pay_z', orderId: 'ord_z', status }));
  }
  expect(await count(`orders where id = 'ord_z' and status = 'paid' and amount_paid = 10000`)).toBe(1);
  expect(await count(`payments where payment_id = 'pay_z' and status = 'captured'`)).toBe(1);
});

it('a failure that comes late belongs to its own payment', async () => {
  await seedOrder(db.pool, { id: 'ord_w' });
  await look(db.pool, facts({ paymentId: 'pay_w1', orderId: 'ord_w', status: 'pending' }));
  await look(db.pool, facts({ paymentId: 'pay_w2', orderId: 'ord_w' }));
  await seedEvent(db.pool, { id: 'evt_w', paymentId: 'pay_w1', type: 'payment.failed' });
  await look(db.pool, facts({ paymentId: 'pay_w1', orderId: 'ord_w', status: 'failed' }));
  expect(await count(`orders where id = 'ord_w' and status = 'paid'`)).toBe(1);
  expect(await count(`payments where order_id = 'ord_w' and status = 'failed' and payment_id = 'pay_w1'`)).toBe(1);
  expect(await count(`payments where order_id = 'ord_w' and status = 'captured' and payment_id = 'pay_w2'`)).toBe(1);
});

it('a failed order is paid by a later success of the same payment', async () => {
  await seedOrder(db.pool, { id: 'ord_v' });
  await look(db.pool, facts({ paymentId: 'pay_v', orderId: 'ord_v', status: 'failed' }));
  expect(await count(`orders where id = 'ord_v' and status = 'failed_final'`)).toBe(1);
  await look(db.pool, facts({ paymentId: 'pay_v', orderId: 'ord_v' }));
  expect(await count(`orders where id = 'ord_v' and status = 'paid'`)).toBe(1);
});
