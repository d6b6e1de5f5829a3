import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHttpClient, createWorkflowClient, type HttpClient } from '../../src/client/index.ts';
import { eventually } from '../support/eventually.ts';
import { type MoneySystem, openMoneySystem } from '../support/money-system.ts';
import { control } from '../support/simulator.ts';

let system: MoneySystem;
let client: HttpClient;
beforeAll(async () => {
  system = await openMoneySystem();
  client = createHttpClient({ baseUrl: system.servers[0]?.url ?? '', apiKey: system.apiKey });
});
afterAll(() => system.close());

const CARD = { source: 'sim', customer_id: 'cus_1', payment_method: 'pm_1', currency: 'EUR' };

/** Where it is told by an event, or in the run a moment after the API has answered from what the payment told. */
const comesTo = (status: string, ask: () => Promise<{ readonly status: string | null }>) =>
  eventually(`it is ${status}`, async () => (await ask()).status === status);

it('another service moves money through the typed client, and reads the runs through Temporal', async () => {
  const workflows = createWorkflowClient(system.temporal.client.workflow);
  const { paymentId } = await system.paid('typed');
  const refund = await client.refunds.create(
    { source: 'sim', payment_id: paymentId, amount: 4_000 },
    { idempotencyKey: 'refund:typed' },
  );
  expect(refund).toMatchObject({ status: 'succeeded', amount: 4_000, payment_id: paymentId });
  expect(await client.refunds.get(refund.id)).toEqual(refund);
  await comesTo('succeeded', () => workflows.refundState(refund.id));

  const payout = await client.payouts.create(
    {
      ...{ source: 'sim', seller_id: 'seller:1', settlement_date: '2026-12-01', amount: 7_000, currency: 'EUR' },
      destination: 'acc_1',
    },
    { idempotencyKey: 'payout:typed' },
  );
  expect(await client.payouts.get(payout.id)).toMatchObject({ seller_id: 'seller:1', amount: 7_000 });
  expect(await workflows.payoutState(payout.id)).toMatchObject({ amount: '7000' });

  await system.order('ord_charged');
  const charge = await client.charges.create(
    { ...CARD, order_id: 'ord_charged', amount: 10_000 },
    { idempotencyKey: 'charge:typed' },
  );
  expect(await client.charges.get(charge.id)).toMatchObject({ status: 'succeeded', order_id: 'ord_charged' });
  await comesTo('succeeded', () => workflows.chargeState(charge.id));

  const topUp = await client.wallets.topUp('wal_1', { ...CARD, amount: 2_500 }, { idempotencyKey: 'top-up:typed' });
  expect(await client.wallets.getTopUp(topUp.id)).toMatchObject({ status: 'succeeded', balance: 2_500 });
  expect(await client.wallets.get('wal_1')).toEqual({ id: 'wal_1', currency: 'EUR', balance: 2_500 });
  await comesTo('succeeded', () => workflows.topUpState(topUp.id));

  for (const [name, end] of [
    ['pay_taken', 'capture'],
    ['pay_gone', 'void'],
  ] as const) {
    await system.order(`ord_${name}`);
    const payment = {
      payment_id: name,
      order_id: `ord_${name}`,
      amount: 10_000,
      currency: 'EUR',
      status: 'authorized',
    };
    await control(system.sim, 'POST', '/payments', payment);
    await comesTo('authorized', async () => (await system.get(`/v1/payments/sim/${name}`)).body);
    const keyed = { idempotencyKey: `${end}:${name}` };
    const ended =
      end === 'capture'
        ? await client.payments.capture('sim', name, {}, keyed)
        : await client.payments.void('sim', name, keyed);
    expect(ended).toMatchObject({ status: 'succeeded', amount: 10_000, payment_id: name });
  }
  expect(await client.payments.getCapture('sim', 'pay_taken')).toMatchObject({ gateway_capture_id: 'pay_taken' });
  expect(await client.payments.getVoid('sim', 'pay_gone')).toMatchObject({ gateway_void_id: 'pay_gone' });
  await comesTo('succeeded', () => workflows.captureState('sim', 'pay_taken'));
  await comesTo('succeeded', () => workflows.voidState('sim', 'pay_gone'));

  await expect(
    client.refunds.create({ source: 'sim', payment_id: paymentId, amount: 6_001 }, { idempotencyKey: 'too:much' }),
  ).rejects.toMatchObject({ name: 'PaidonceError', status: 422, code: 'refund_exceeds_captured', retryable: false });
});

it("a person's decision reaches a run through Temporal, and is the one that the API shows", async () => {
  const workflows = createWorkflowClient(system.temporal.client.workflow);
  const { paymentId } = await system.paid('decided');
  await system.faults({ refuse: { calls: ['refunds.writes'], next: 1 } });
  const refund = await client.refunds.create(
    { source: 'sim', payment_id: paymentId },
    { idempotencyKey: 'refund:decided' },
  );
  expect(refund.status).toBe('needs_review');
  expect(await workflows.refundState(refund.id)).toMatchObject({ waiting_for: 'human' });
  const decision = { action: 'retry', note: 'the key was repaired', by: 'kim' } as const;
  expect(await workflows.decide(refund.workflow_id ?? '', decision)).toMatchObject({ result: 'decided' });
  await system.shows(`/v1/refunds/${refund.id}`, { status: 'succeeded' });
  const { body } = await system.get('/v1/dead-letters');
  expect(body.data).toMatchObject([
    { refund_id: refund.id, status: 'decided', decision: { action: 'retry', by: 'kim' } },
  ]);
});
