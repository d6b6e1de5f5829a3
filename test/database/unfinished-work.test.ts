import { afterAll, beforeAll, expect, it } from 'vitest';
import { readUnfinishedWork, type UnfinishedPlace } from '../../src/database/unfinished-work.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { seedStorm } from '../support/seed-storm.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await seedStorm(db.pool);
  // All of it was begun long ago.
  for (const table of ['refunds', 'payouts', 'charges', 'top_ups', 'checkouts', 'orders'])
    await db.pool.query(`update ${table} set created_at = created_at - interval '1 hour'`);
  // Asked for, and nobody was told yet.
  await db.pool.query(`insert into captures (id, source, payment_id, amount, currency, status, reference, requested_by)
    values ('sim:pay_a', 'sim', 'pay_a', 1, 'EUR', 'pending', 'capture:sim:pay_a', 'test')`);
  await db.pool.query(`insert into voids (id, source, payment_id, amount, currency, status, reference, requested_by)
    values ('sim:pay_b', 'sim', 'pay_b', 1, 'EUR', 'unknown', 'void:sim:pay_b', 'test')`);
  await db.pool.query(`insert into consumer_deliveries (consumer, target, event_id, event_type, status)
    values ('receipt', '-', 'outbox:1', 'order.paid', 'in_progress'), ('webhook', 'ep_1', 'outbox:2', 'order.paid', 'skipped')`);
  for (const table of ['captures', 'voids'])
    await db.pool.query(`update ${table} set created_at = created_at - interval '1 hour'`);
  await db.pool.query(`update consumer_deliveries set planned_at = planned_at - interval '1 hour'`);
  await db.pool.query(`update payments set updated_at = updated_at - interval '1 hour'`);
  await db.pool.query(`update webhook_events set received_at = received_at - interval '1 hour'`);
});
afterAll(() => db.drop());

async function all(limit: number): Promise<string[]> {
  const found: string[] = [];
  let place: UnfinishedPlace | null = null;
  do {
    const page: Awaited<ReturnType<typeof readUnfinishedWork>> = await readUnfinishedWork(db.pool, 'sim', place, limit);
    found.push(
      ...page.work.map(
        ({ eventType, aggregateId, payload }) => `${eventType} ${aggregateId} ${JSON.stringify(payload)}`,
      ),
    );
    place = page.next;
  } while (place !== null);
  return found;
}

it('what is not over is the same, each of it once, however it is paged', async () => {
  const whole = await all(1_000);
  expect(new Set(whole).size).toBe(whole.length);
  for (const limit of [1, 3, whole.length]) expect(await all(limit)).toEqual(whole);
  for (const kind of [
    ...['payment.waits', 'refund.requested', 'payout.requested', 'capture.requested', 'void.requested'],
    'delivery.unfinished 1',
  ])
    expect(whole.filter((one) => one.startsWith(`${kind} `)).length, kind).toBeGreaterThan(0);
});

it('what is over, given up, or of another source is not among it, nor an order that a person brought back', async () => {
  const found = await all(1_000);
  expect(found.some((one) => /rf_left |pay_full |ord_revived |ord_half_revived |unfinished 2 /.test(one))).toBe(false);
  expect((await readUnfinishedWork(db.pool, 'other', null, 1_000)).work).toEqual([]);
  const young = await db.pool.query('update refunds set created_at = now() returning id');
  expect(young.rowCount).toBeGreaterThan(0);
  expect((await all(1_000)).filter((one) => one.startsWith('refund.requested'))).toEqual([]);
});
