import { afterAll, beforeAll, expect, it } from 'vitest';
import { runAudit } from '../../src/database/audit.ts';
import { removePublished } from '../../src/database/remove-published.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { facts, look, seedOrder } from '../support/seed.ts';
import { seedStorm } from '../support/seed-storm.ts';

const DAY_MS = 86_400_000;

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await seedStorm(db.pool);
});
afterAll(() => db.drop());

const left = async (where = 'true'): Promise<number> =>
  Number((await db.pool.query<{ n: bigint }>(`select count(*) as n from outbox where ${where}`)).rows[0]?.n);
const violations = async () => (await runAudit(db.pool)).violations.map(({ invariant }) => invariant);

it('what was published longer ago than it is kept is removed in batches, and nothing else', async () => {
  await db.pool.query(`update outbox set published_at = now() - interval '31 days'`);
  await db.pool.query(`update outbox set published_at = now() - interval '29 days' where id % 7 = 1`);
  await db.pool.query(`update outbox set published_at = null where id % 7 = 2`);
  const [young, unpublished, all] = [await left('id % 7 = 1'), await left('published_at is null'), await left()];
  expect(Math.min(young, unpublished)).toBeGreaterThan(3);
  expect(await removePublished(db.pool, 30 * DAY_MS, 5)).toBe(5);
  expect(await left()).toBe(all - 5);
  while ((await removePublished(db.pool, 30 * DAY_MS, 5)) > 0);
  expect(await left('id % 7 = 1')).toBe(young);
  expect(await left('published_at is null')).toBe(unpublished);
  // What the next version of an order that is not there yet follows from.
  const others = `id % 7 not in (1, 2)`;
  expect(await left(`${others} and exists (select from orders r where r.id = aggregate_id)`)).toBe(0);
  const orphans = `payload->>'order_id' = aggregate_id and not exists (select from orders r where r.id = aggregate_id)`;
  expect(await left(others)).toBe(await left(`${others} and ${orphans}`));
});

it('and every promise about announcements holds on what is left', async () => {
  // Those that were left unpublished are days old by this test's own doing.
  expect((await violations()).filter((invariant) => invariant !== 'outbox_is_published')).toEqual([]);
});

it('but what is announced from then on is still asked for, once', async () => {
  await seedOrder(db.pool, { id: 'ord_new', lines: [{ id: 'l1', kind: 'product', amount: 10_000n }] });
  await look(db.pool, facts({ paymentId: 'pay_new', orderId: 'ord_new' }));
  const wrong = async () =>
    (await violations()).filter((invariant) => !['outbox_is_published', 'order_history'].includes(invariant));
  expect(await wrong()).toEqual([]);
  await db.pool.query(`insert into outbox (event_type, aggregate_id, aggregate_version, payload)
    select event_type, aggregate_id, aggregate_version + 1, payload - 'order_id' from outbox where event_type = 'order.paid' and aggregate_id = 'ord_new'`);
  expect(await wrong()).toEqual(['order_paid_announced_once']);
  await db.pool.query(
    `delete from outbox where event_type in ('order.paid', 'fulfilment.requested') and aggregate_id = 'ord_new'`,
  );
  expect(await wrong()).toEqual(['order_paid_announced_once', 'fulfilment_requested_once']);
});

it.each([
  ['in_progress', '-'],
  ['dead', 'ep_1'],
  ['skipped', 'ep_1'],
])('what somebody was not told of stays: %s for %s', async (status, target) => {
  const { rows } = await db.pool.query<{ id: bigint }>(
    `insert into outbox (event_type, aggregate_id, aggregate_version, payload, published_at)
     values ('payout.paid', 'payout:kept_' || $1::text, 1, '{}', now() - interval '31 days') returning id`,
    [status],
  );
  const id = rows[0]?.id;
  await db.pool.query(
    `insert into consumer_deliveries (consumer, target, event_id, event_type, status)
     values ('webhook', $2, 'outbox:' || $1::text, 'payout.paid', $3)`,
    [id, target, status],
  );
  await removePublished(db.pool, 30 * DAY_MS, 1_000);
  expect(await left(`id = ${id}`)).toBe(1);
  await db.pool.query(
    `update consumer_deliveries set status = 'done', done_at = now() where event_id = 'outbox:' || $1::text`,
    [id],
  );
  await removePublished(db.pool, 30 * DAY_MS, 1_000);
  expect(await left(`id = ${id}`)).toBe(0);
});
