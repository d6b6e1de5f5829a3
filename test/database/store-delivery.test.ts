import { createHash } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPool } from '../../src/database/pool.ts';
import type { Delivery } from '../../src/database/delivery-statement.ts';
import { storeDelivery } from '../../src/database/store-delivery.ts';
import type { AdmittedEvent } from '../../src/domain/admit-event.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.url, max: 10, applicationName: 'test' });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

let n = 0;
let id = '';
beforeEach(() => {
  n += 1;
  id = `evt_${n}`;
});

function delivery(body = '{"a":1}', event: Partial<AdmittedEvent> = {}): Delivery {
  const bytes = Buffer.from(body);
  return {
    source: 'sim',
    event: {
      eventId: id,
      eventType: 'payment.captured',
      state: 'pending',
      reason: null,
      subject: 'payment',
      objectId: 'pay_1',
      paymentId: 'pay_1',
      orderId: 'ord_1',
      claimed: 'captured',
      reference: null,
      ...{ amount: 10_000n, currency: 'EUR', fee: null, withheld: null },
      occurredAt: 1_764_500_000_123,
      ...event,
    },
    body: bytes,
    bodySha256: createHash('sha256').update(bytes).digest(),
    payload: body,
    headers: '{"webhook-id":"x"}',
    remoteAddress: '127.0.0.1',
  };
}

async function eventRow(): Promise<any> {
  return (await pool.query('select * from webhook_events where source = $1 and event_id = $2', ['sim', id])).rows[0];
}
async function differing(): Promise<boolean[]> {
  const { rows } = await pool.query<{ differs: boolean }>(
    'select differs from webhook_deliveries where event_id = $1 order by differs',
    [id],
  );
  return rows.map((row) => row.differs);
}
async function letters(): Promise<any[]> {
  return (await pool.query('select * from dead_letters where event_id = $1 order by id', [id])).rows;
}

describe('storing a delivery', () => {
  it('keeps the event, its bytes and its own time', async () => {
    const stored = await storeDelivery(pool, delivery());
    expect(stored).toEqual({ duplicate: false, differs: false, handOver: { paymentId: 'pay_1', orderId: 'ord_1' } });
    const row = await eventRow();
    expect(row).toMatchObject({ state: 'pending', payload: { a: 1 }, outcome: null, processed_at: null });
    expect(row.occurred_at.getTime()).toBe(1_764_500_000_123);
  });

  it('makes one event of twenty copies that arrive at once, and keeps every delivery', async () => {
    const stored = await Promise.all(Array.from({ length: 20 }, async () => storeDelivery(pool, delivery())));
    expect(stored.filter((one) => !one.duplicate)).toHaveLength(1);
    expect(stored.some((one) => one.differs)).toBe(false);
    expect(await differing()).toEqual(Array(20).fill(false));
    expect((await eventRow()).look_again_at).toBeNull();
  });

  it('hands a repeat over again only while nobody has taken the event', async () => {
    await storeDelivery(pool, delivery());
    expect((await storeDelivery(pool, delivery())).handOver).not.toBeNull();
    await pool.query('update webhook_events set handed_over_at = now() where event_id = $1', [id]);
    expect((await storeDelivery(pool, delivery())).handOver).toBeNull();
  });

  it('marks a repeat with other bytes and looks again, even after the event was processed', async () => {
    await storeDelivery(pool, delivery());
    await pool.query(`update webhook_events set state = 'processed', handed_over_at = now() where event_id = $1`, [id]);
    const stored = await storeDelivery(pool, delivery('{"a":2}'));
    expect(stored).toEqual({ duplicate: true, differs: true, handOver: { paymentId: 'pay_1', orderId: 'ord_1' } });
    expect(await differing()).toEqual([false, true]);
    const row = await eventRow();
    expect(row.look_again_at).not.toBeNull();
    expect(row.handed_over_at).toBeNull();
    expect(row.payload).toEqual({ a: 1 });
    expect(await letters()).toEqual([]);
  });

  it('sees that bytes differ also when the copies race', async () => {
    for (let round = 0; round < 30; round += 1) {
      id = `evt_race_${round}`;
      await Promise.all(
        ['{"a":1}', '{"a":2}', '{"a":1}', '{"a":2}'].map(async (body) => storeDelivery(pool, delivery(body))),
      );
      expect(await differing()).toEqual([false, false, true, true]);
      expect((await eventRow()).look_again_at).not.toBeNull();
    }
  });

  it('records an ignored event as acted on, with its reason', async () => {
    const stored = await storeDelivery(pool, delivery('{}', { state: 'ignored', reason: 'of no concern' }));
    expect(stored.handOver).toBeNull();
    expect(await eventRow()).toMatchObject({ state: 'ignored', outcome: 'of no concern' });
    const gate = await pool.query('select consumer, outcome from processed_events where event_id = $1', [`sim:${id}`]);
    expect(gate.rows).toEqual([{ consumer: 'payments', outcome: 'of no concern' }]);
  });

  it('puts an event that cannot be understood before a person, once', async () => {
    const unreadable = { state: 'held', reason: 'no payment', paymentId: null, orderId: null } as const;
    for (let copies = 0; copies < 3; copies += 1) await storeDelivery(pool, delivery('{}', unreadable));
    expect(await eventRow()).toMatchObject({ state: 'held', last_error: 'no payment' });
    expect(await letters()).toMatchObject([{ kind: 'event_unreadable', status: 'open', last_error: 'no payment' }]);
    const gates = await pool.query('select 1 from processed_events where event_id = $1', [`sim:${id}`]);
    expect(gates.rowCount).toBe(0);
  });

  it('puts a known id that comes back for another payment before a person', async () => {
    await storeDelivery(pool, delivery());
    await storeDelivery(pool, delivery('{"p":2}', { paymentId: 'pay_2' }));
    expect(await letters()).toMatchObject([{ kind: 'event_unreadable', payment_id: 'pay_2' }]);
  });

  it('keeps whatever number a payload holds', async () => {
    await storeDelivery(pool, delivery('{"n":9007199254740993}'));
    const { rows } = await pool.query(`select payload->>'n' as n from webhook_events where event_id = $1`, [id]);
    expect(rows).toEqual([{ n: '9007199254740993' }]);
  });
});
