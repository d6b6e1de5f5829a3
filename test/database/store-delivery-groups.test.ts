import { createHash } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDeliveryStore } from '../../src/api/receive/delivery-store.ts';
import { createPool } from '../../src/database/pool.ts';
import type { Delivery } from '../../src/database/delivery-statement.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.url, max: 10, applicationName: 'groups' });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

function delivery(eventId: string, payload = '{}', body = payload): Delivery {
  const bytes = Buffer.from(body);
  return {
    source: 'sim',
    event: {
      ...{ eventId, eventType: 'payment.captured', state: 'pending', reason: null, subject: 'payment' },
      ...{
        objectId: 'pay_1',
        paymentId: 'pay_1',
        orderId: null,
        claimed: 'captured',
        ...{ amount: null, currency: null, fee: null, withheld: null },
        reference: null,
        occurredAt: null,
      },
    },
    body: bytes,
    bodySha256: createHash('sha256').update(bytes).digest(),
    payload,
    headers: '{}',
    remoteAddress: null,
  };
}

/** Runs `work` while nothing can be stored, so that what comes meanwhile is grouped. */
async function whileBusy<T>(work: () => Promise<T>[]): Promise<PromiseSettledResult<T>[]> {
  const blocker = await database.pool.connect();
  await blocker.query('begin; lock table webhook_events in exclusive mode');
  const results = work();
  await expect
    .poll(async () => {
      const { rows } = await database.pool.query(
        `select count(*)::int as n from pg_stat_activity where application_name = 'groups' and wait_event_type = 'Lock'`,
      );
      return rows[0].n as number;
    })
    .toBe(2);
  await blocker.query('commit');
  blocker.release();
  return Promise.allSettled(results);
}

async function deliveriesOf(eventId: string): Promise<boolean[]> {
  const { rows } = await pool.query<{ differs: boolean }>(
    'select differs from webhook_deliveries where event_id = $1 order by differs',
    [eventId],
  );
  return rows.map((row) => row.differs);
}

describe('deliveries that come while PostgreSQL is busy', () => {
  it('are stored together, each answered for itself', async () => {
    const store = createDeliveryStore(pool);
    const ids = Array.from({ length: 250 }, (_, k) => `evt_${k}`);
    const results = await whileBusy(() => ids.map(async (id) => store.store(delivery(id))));
    expect(results.every((one) => one.status === 'fulfilled' && !one.value.duplicate)).toBe(true);
    const { rows } = await pool.query(
      `select count(*)::int as events, count(distinct received_at)::int as statements from webhook_events`,
    );
    expect(rows[0].events).toBe(250);
    expect(rows[0].statements).toBeLessThan(10);
  });

  it('are one event for all copies, and a copy with other bytes is seen as such', async () => {
    const store = createDeliveryStore(pool);
    const copies = [...Array<string>(10).fill('{}'), '{"other":1}'];
    const results = await whileBusy(() => [
      ...[1, 2].map(async (k) => store.store(delivery(`evt_busy_${k}`))),
      ...copies.map(async (body) => store.store(delivery('evt_copies', body))),
    ]);
    const stored = results.slice(2).map((one) => (one.status === 'fulfilled' ? one.value : null));
    expect(stored.filter((one) => one?.duplicate === false)).toHaveLength(1);
    expect(stored.map((one) => one?.differs)).toEqual([...Array<boolean>(10).fill(false), true]);
    expect(await deliveriesOf('evt_copies')).toEqual([...Array<boolean>(10).fill(false), true]);
  });

  it('are stored though one of them is refused, which fails alone', async () => {
    const store = createDeliveryStore(pool);
    const results = await whileBusy(() => [
      ...[3, 4].map(async (k) => store.store(delivery(`evt_busy_${k}`))),
      store.store(delivery('evt_good')),
      store.store(delivery('evt_bad', '1e999999')),
      store.store(delivery('evt_too')),
    ]);
    expect(results.map((one) => one.status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(await deliveriesOf('evt_bad')).toEqual([]);
  });

  it('at two processes in opposite order, all known and with other bytes, do not wait for each other for ever', async () => {
    const stores = [createDeliveryStore(pool), createDeliveryStore(pool)];
    const ids = Array.from({ length: 60 }, (_, k) => `evt_cross_${k}`);
    await Promise.all(ids.filter((_, k) => k % 2 === 0).map(async (id) => stores[0]?.store(delivery(id))));
    for (let round = 0; round < 10; round += 1) {
      const results = await Promise.allSettled(
        stores.flatMap((store, at) =>
          (at === 0 ? ids : ids.toReversed()).map(async (id) =>
            store.store(delivery(id, `{"round":${round},"at":${at}}`)),
          ),
        ),
      );
      expect(results.filter((one) => one.status === 'rejected')).toEqual([]);
    }
  });
});
