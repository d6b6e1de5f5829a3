import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Pool } from '../../src/database/pool.ts';
import { announce } from '../../src/database/announce.ts';
import { inTransaction } from '../../src/database/pool.ts';
import type { Consumer, ConsumerRetry, Delivery, DeliveryResult } from '../../src/notify/consumer.ts';
import { DeliveryError } from '../../src/notify/delivery-error.ts';
import { decideUpdate, deliveryStateQuery, TASK_QUEUE } from '../../src/workflows/messages.ts';
import { eventually } from '../support/eventually.ts';
import { openPaymentLab, type PaymentLab } from '../support/payment-lab.ts';
import { seedOrder } from '../support/seed.ts';

/** Intervals of milliseconds, so that what takes days takes none here; the policy's form is the same. */
const QUICK_RETRY: ConsumerRetry = {
  initialIntervalMs: 20,
  maximumIntervalMs: 40,
  maximumAttempts: 3,
  timeoutMs: 3_000,
};

type Act = (delivery: Delivery) => Promise<DeliveryResult>;

/** Consumers whose doing each test sets; all of them want `order.paid`. */
const acts = new Map<string, Act>();
const told: { consumer: string; event: string; at: number }[] = [];

function consumer(name: string): Consumer {
  return {
    name,
    types: ['order.paid'],
    retry: QUICK_RETRY,
    async deliver(delivery) {
      told.push({ consumer: name, event: delivery.event.id, at: Date.now() });
      return (await acts.get(name)?.(delivery)) ?? { status: 'done' };
    },
  };
}

let lab: PaymentLab;
beforeAll(async () => {
  lab = await openPaymentLab({ consumers: () => [consumer('crm'), consumer('mail')] });
});
afterAll(() => lab.close());
beforeEach(() => {
  acts.clear();
  told.length = 0;
});
afterEach(() => acts.clear());

const toldTo = (name: string) => told.filter((one) => one.consumer === name);

let orders = 0;
/** Announces a paid order as its transaction would; the workflow that tells of it. */
async function announcePaid(pool: Pool = lab.db.pool): Promise<string> {
  const orderId = `ord_${++orders}`;
  await seedOrder(pool, { id: orderId });
  const payload = { order_id: orderId, source: 'sim', payment_id: `pay_${orders}`, amount: '10000', currency: 'EUR' };
  await inTransaction(pool, (tx) => announce(tx, orderId, [{ eventType: 'order.paid', payload }]));
  const row = await lab.row<{ id: bigint }>(
    `select id from outbox where event_type = 'order.paid' order by id desc limit 1`,
  );
  return `outbox:${row?.id}`;
}

const deliveryIs = (event: string, name: string, status: string) =>
  eventually(`${name} of ${event} is ${status}`, () =>
    lab.row<{ attempts: number; last_error: string | null }>(
      'select * from consumer_deliveries where event_id = $1 and consumer = $2 and status = $3',
      ...[event, name, status],
    ),
  );

describe('an announced event', () => {
  it('reaches each consumer of its type once, and leaves its record at the gate', async () => {
    const event = await announcePaid();
    const result = await lab.client.workflow
      .getHandle(event)
      .result()
      .catch(async () => {
        await deliveryIs(event, 'crm', 'done');
        return lab.client.workflow.getHandle(event).result();
      });
    expect(result).toEqual({
      event_type: 'order.paid',
      deliveries: [
        { consumer: 'crm', target: '-', status: 'done', attempts: 1 },
        { consumer: 'mail', target: '-', status: 'done', attempts: 1 },
      ],
    });
    expect(told.map((one) => one.event)).toEqual([event, event]);
    expect(
      await lab.row(`select count(*)::int as n from processed_events where event_id = $1 and outcome = 'done'`, event),
    ).toEqual({ n: 2 });
  });

  it('repeats nothing that is done when its run is started again', async () => {
    const event = await announcePaid();
    await deliveryIs(event, 'crm', 'done');
    await deliveryIs(event, 'mail', 'done');
    await lab.client.workflow.getHandle(event).result();
    await lab.client.workflow.execute('deliverEvent', { workflowId: event, taskQueue: TASK_QUEUE });
    expect(toldTo('crm')).toHaveLength(1);
    expect(toldTo('mail')).toHaveLength(1);
  });

  it('that one consumer refuses reaches the other at once, and the one before a person in the end', async () => {
    acts.set('crm', () => Promise.reject(new DeliveryError('It answered 500.', { httpStatus: 500 })));
    const event = await announcePaid();
    await deliveryIs(event, 'mail', 'done');
    const dead = await deliveryIs(event, 'crm', 'dead');
    expect(dead.attempts).toBe(QUICK_RETRY.maximumAttempts);
    const handle = lab.client.workflow.getHandle(event);
    await eventually('the run says so', async () =>
      (await handle.query(deliveryStateQuery)).deliveries.some(({ status }) => status === 'dead'),
    );
    expect(await lab.row('select * from dead_letters where event_id = $1', event)).toMatchObject({
      ...{
        kind: 'delivery_failed',
        status: 'open',
        workflow_id: event,
        source: 'sim',
        amount: 10_000n,
        currency: 'EUR',
      },
      last_error: `crm did not take order.paid (${event}): It answered 500.`,
    });
    expect((await handle.describe()).status.name).toBe('RUNNING');

    acts.clear();
    const decision = { action: 'retry', note: 'mended', by: 'back-office' } as const;
    expect(await handle.executeUpdate(decideUpdate, { args: [decision] })).toEqual({ result: 'decided' });
    await deliveryIs(event, 'crm', 'done');
    await handle.result();
    expect(toldTo('mail')).toHaveLength(1);
    expect(await lab.row('select status from dead_letters where event_id = $1', event)).toEqual({ status: 'decided' });
  });
});
