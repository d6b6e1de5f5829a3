import { WithStartWorkflowOperation } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSimulator, type Simulator } from '../../src/gateways/simulator/start-simulator.ts';
import { paymentStartOptions } from '../../src/relay/start-options.ts';
import { handOver } from '../../src/relay/hand-over.ts';
import { confirmPaymentUpdate, paymentStateQuery } from '../../src/workflows/messages.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { standardSource, startEngine, TEST_WEBHOOK_SECRET, type Engine } from '../support/engine.ts';
import { seedEvent, seedOrder } from '../support/seed.ts';
import { createTestNamespace, type TestNamespace } from '../support/temporal.ts';
import { eventually } from '../support/eventually.ts';

let db: TestDatabase;
let temporal: TestNamespace;
let simulator: Simulator;
let engine: Engine;

beforeAll(async () => {
  [db, temporal, simulator] = await Promise.all([
    createTestDatabase(),
    createTestNamespace(),
    startSimulator({ apiKey: 'sim-key', webhookSecret: TEST_WEBHOOK_SECRET, webhookUrl: null }),
  ]);
  engine = await startEngine({ pool: db.pool, ...temporal, sources: [standardSource(simulator.url)] });
});
afterAll(async () => {
  await engine.stop();
  await simulator.close();
  await temporal.close();
  await db.drop();
});

async function control(path: string, body: unknown): Promise<void> {
  const answer = await fetch(`${simulator.url}/sim/${path}`, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
}
const pay = (payment_id: string, order_id: string, more: object = {}) =>
  control('payments', { payment_id, order_id, amount: 10_000, currency: 'EUR', deliver: false, ...more });
const order = async (id: string) =>
  (await db.pool.query<{ status: string }>('select * from orders where id = $1', [id])).rows[0];
const event = async (id: string) =>
  (
    await db.pool.query<{ state: string; outcome: string | null }>('select * from webhook_events where event_id = $1', [
      id,
    ])
  ).rows[0];

async function confirm(paymentId: string, orderId: string) {
  return temporal.client.workflow.executeUpdateWithStart(confirmPaymentUpdate, {
    startWorkflowOperation: new WithStartWorkflowOperation(
      'processPayment',
      paymentStartOptions('sim', paymentId, orderId),
    ),
  });
}

describe('processPayment', () => {
  it('pays the order on a webhook, and a second run under the same id repeats nothing', async () => {
    await seedOrder(db.pool, { id: 'ord_1' });
    await pay('pay_1', 'ord_1');
    await seedEvent(db.pool, { id: 'evt_1', paymentId: 'pay_1', orderId: 'ord_1' });
    await eventually('the order is paid', async () => (await order('ord_1'))?.status === 'paid');
    expect(await event('evt_1')).toMatchObject({ state: 'processed', outcome: 'marked_paid' });
    const handle = temporal.client.workflow.getHandle('payment:sim:pay_1');
    expect(await handle.result()).toBe('marked_paid');
    await handOver(
      { client: temporal.client.workflow, pool: db.pool },
      { source: 'sim', eventId: 'evt_1', paymentId: 'pay_1', orderId: 'ord_1' },
    );
    await temporal.client.workflow.getHandle('payment:sim:pay_1').result();
    expect((await db.pool.query('select 1 from bookings')).rowCount).toBe(1);
  });

  it('answers webhook and callback that arrive together: one wins, both are told', async () => {
    for (let round = 0; round < 10; round += 1) {
      const [o, p, e] = [`ord_c${round}`, `pay_c${round}`, `evt_c${round}`];
      await seedOrder(db.pool, { id: o });
      await pay(p, o);
      const [result] = await Promise.all([
        confirm(p, o),
        seedEvent(db.pool, { id: e, paymentId: p, orderId: o }).then(() =>
          handOver(
            { client: temporal.client.workflow, pool: db.pool },
            { source: 'sim', eventId: e, paymentId: p, orderId: o },
          ),
        ),
      ]);
      const done = await eventually('the event is processed', async () => {
        const row = await event(e);
        return row?.state === 'processed' && row;
      });
      expect([result.outcome, done.outcome].toSorted((a, b) => ((a ?? '') < (b ?? '') ? -1 : 1))).toEqual([
        'already_paid_same_payment',
        'marked_paid',
      ]);
    }
  });

  it('waits for the gateway to show what an event claims, and says so', async () => {
    await seedOrder(db.pool, { id: 'ord_2' });
    await pay('pay_2', 'ord_2', { status: 'pending' });
    await seedEvent(db.pool, { id: 'evt_2', paymentId: 'pay_2', orderId: 'ord_2' });
    const handle = temporal.client.workflow.getHandle('payment:sim:pay_2');
    await eventually('the run waits', async () => {
      const state = await handle.query(paymentStateQuery).catch(() => null);
      return state?.waiting_for === 'gateway' && state.pending_events === 1;
    });
    expect((await order('ord_2'))?.status).toBe('payment_pending');
    await control('payments/pay_2/capture', { deliver: false });
    await eventually('the order is paid', async () => (await order('ord_2'))?.status === 'paid');
    expect(await handle.result()).toBe('marked_paid');
  });

  it('gives an extra capture back once, through its own workflow', async () => {
    await seedOrder(db.pool, { id: 'ord_3' });
    for (const n of [1, 2]) {
      await pay(`pay_3${n}`, 'ord_3');
      await seedEvent(db.pool, { id: `evt_3${n}`, paymentId: `pay_3${n}`, orderId: 'ord_3' });
    }
    const refund = await eventually('the refund succeeded', async () => {
      const { rows } = await db.pool.query<{ status: string; id: string; payment_id: string }>(
        `select * from refunds where order_id = 'ord_3'`,
      );
      return rows[0]?.status === 'succeeded' && rows;
    });
    expect(refund).toHaveLength(1);
    const answer = await fetch(`${simulator.url}/refunds?payment_id=${refund[0]?.payment_id ?? ''}`, {
      headers: { authorization: 'Bearer sim-key' },
    });
    expect(await answer.json()).toMatchObject({
      data: [{ status: 'succeeded', amount: 10_000, reference: `refund:${refund[0]?.id ?? ''}` }],
    });
    expect(await temporal.client.workflow.getHandle(`refund:${refund[0]?.id ?? ''}`).result()).toBe('succeeded');
  });
});
