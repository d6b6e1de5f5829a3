import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { announce } from '../../src/database/announce.ts';
import { claimDelivery } from '../../src/database/claim-delivery.ts';
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
/** Announces paid orders as their transactions would, all at once; the workflows that tell of them. */
async function announceBatch(size: number): Promise<{ event: string; orderId: string }[]> {
  const { pool } = lab.db;
  const ids = Array.from({ length: size }, () => `ord_${++orders}`);
  for (const id of ids) await seedOrder(pool, { id });
  await inTransaction(pool, async (tx) => {
    for (const id of ids) {
      const payload = { order_id: id, source: 'sim', payment_id: `pay_of_${id}`, amount: '10000', currency: 'EUR' };
      await announce(tx, id, [{ eventType: 'order.paid', payload }]);
    }
  });
  const { rows } = await pool.query<{ event: string; orderId: string }>(
    `select 'outbox:' || id as event, aggregate_id as "orderId" from outbox
     where event_type = 'order.paid' and aggregate_id = any($1) order by id`,
    [ids],
  );
  return rows;
}

async function announcePaid(): Promise<string> {
  return (await announceBatch(1))[0]?.event ?? '';
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

  it('whose target is poisoned holds up no other: ten that fail, and a good one is told at once', async () => {
    let poison = true;
    // Nobody waits for these: their next try is far away.
    acts.set('crm', () =>
      poison
        ? Promise.reject(new DeliveryError('It answered 500.', { retryAfterMs: 3_600_000 }))
        : Promise.resolve({ status: 'done' }),
    );
    const bad = await announceBatch(10);
    await eventually('all ten have failed', async () => toldTo('crm').length === 10);
    poison = false;
    const good = await announcePaid();
    await deliveryIs(good, 'crm', 'done');
    for (const { event } of bad) {
      expect(await deliveryIs(event, 'crm', 'in_progress')).toMatchObject({ attempts: 1 });
      await deliveryIs(event, 'mail', 'done');
    }
  });

  it('is told once though two attempts are under way: the second waits until the first is over', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    acts.set('crm', async () => {
      await held;
      return { status: 'done' };
    });
    const event = await announcePaid();
    await eventually('the first attempt is under way', async () => toldTo('crm').length === 1);
    const key = { outboxId: event.slice('outbox:'.length), consumer: 'crm', target: '-' };
    const second = await claimDelivery(lab.db.pool, key, 60_000);
    expect(second).toMatchObject({ result: 'leased' });
    release();
    await deliveryIs(event, 'crm', 'done');
    expect(await claimDelivery(lab.db.pool, key, 60_000)).toEqual({
      result: 'over',
      state: { status: 'done', attempts: 1 },
    });
    expect(toldTo('crm')).toHaveLength(1);
  });

  it('goes on although its run is cancelled', async () => {
    acts.set('crm', () => {
      return toldTo('crm').length < 2
        ? Promise.reject(new DeliveryError('It answered 503.', { retryAfterMs: 500 }))
        : Promise.resolve({ status: 'done' });
    });
    const event = await announcePaid();
    await eventually('the first attempt failed', async () => toldTo('crm').length === 1);
    await lab.client.workflow.getHandle(event).cancel();
    await deliveryIs(event, 'crm', 'done');
    await lab.client.workflow.getHandle(event).result();
  });

  it('leaves no word of a failure in the history that the consumer did not mean for it', async () => {
    acts.set('crm', () => Promise.reject(new TypeError('ada@example.org is not a function')));
    acts.set('mail', () =>
      Promise.reject(
        new DeliveryError('The mail server answered 550.', {
          final: true,
          cause: new Error('no such user ada@example.org'),
        }),
      ),
    );
    const event = await announcePaid();
    const [unforeseen, refused] = [await deliveryIs(event, 'crm', 'dead'), await deliveryIs(event, 'mail', 'dead')];
    expect(unforeseen.last_error).toContain('unexpectedly (TypeError)');
    expect(refused).toMatchObject({ attempts: 1, last_error: 'The mail server answered 550.' });
    const history = JSON.stringify(await lab.client.workflow.getHandle(event).fetchHistory(), (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString() : value,
    );
    expect(history).toContain('The mail server answered 550.');
    expect(history).not.toContain('ada@example.org');
    expect(history).not.toContain('cus_');
  });

  it('that a consumer has no use for is skipped with the reason, and is no trouble', async () => {
    acts.set('crm', () => Promise.resolve({ status: 'skipped', reason: 'Nothing to tell.' }));
    const event = await announcePaid();
    expect(await deliveryIs(event, 'crm', 'skipped')).toMatchObject({ last_error: 'Nothing to tell.', attempts: 1 });
    await deliveryIs(event, 'mail', 'done');
    await lab.client.workflow.getHandle(event).result();
    expect(await lab.row('select count(*)::int as n from processed_events where event_id = $1', event)).toEqual({
      n: 1,
    });
  });

  it('is told to those who were there when it was first taken up, and to nobody who comes later', async () => {
    const event = await announcePaid();
    await deliveryIs(event, 'mail', 'done');
    await lab.client.workflow.getHandle(event).result();
    await lab.db.pool.query(
      `insert into endpoints (id, url, event_types, created_by) values ('ep_late', 'http://127.0.0.1:1/', '{*}', 'test')`,
    );
    try {
      await lab.client.workflow.execute('deliverEvent', { workflowId: event, taskQueue: TASK_QUEUE });
      expect(await lab.row('select count(*)::int as n from consumer_deliveries where event_id = $1', event)).toEqual({
        n: 2,
      });
    } finally {
      await lab.db.pool.query(`delete from endpoints where id = 'ep_late'`);
    }
  });
});

describe('an announcement that nobody wants', () => {
  it('is published and starts no run', async () => {
    await inTransaction(lab.db.pool, (tx) =>
      announce(tx, null, [{ eventType: 'payout.paid', aggregateId: 'payout:1', payload: { payout_id: '1' } }]),
    );
    const row = await eventually('it is published', () =>
      lab.row<{ id: bigint }>(`select id from outbox where event_type = 'payout.paid' and published_at is not null`),
    );
    await expect(lab.client.workflow.getHandle(`outbox:${row.id}`).describe()).rejects.toThrow(/not found/i);
  });
});
