import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { maintainPartitions } from '../../src/database/partitions.ts';
import { createPool } from '../../src/database/pool.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.url, max: 5, applicationName: 'test' });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

async function deliveries(): Promise<unknown[]> {
  const { rows } = await pool.query(
    'select tableoid::regclass::text as kept_in, event_id from webhook_deliveries order by 2',
  );
  return rows;
}

it('makes months ahead, moves what came before them, and drops months past the time they are kept', async () => {
  await pool.query(
    `insert into webhook_deliveries (source, event_id, received_at, body, headers) values
       ('sim', 'a', '2026-11-30T23:59:59.999Z', '', '{}'), ('sim', 'b', '2026-12-01T00:00:00Z', '', '{}')`,
  );
  const november = Date.parse('2026-11-30T23:00:00Z');
  expect((await maintainPartitions(pool, november)).created).toEqual([
    'webhook_deliveries_2026_11',
    'webhook_deliveries_2026_12',
    'webhook_deliveries_2027_01',
  ]);
  expect(await deliveries()).toEqual([
    { kept_in: 'webhook_deliveries_2026_11', event_id: 'a' },
    { kept_in: 'webhook_deliveries_2026_12', event_id: 'b' },
  ]);
  expect(await maintainPartitions(pool, november)).toEqual({ created: [], dropped: [] });

  // 35 days after the last delivery of November it is still there.
  expect((await maintainPartitions(pool, Date.parse('2027-01-05T00:00:00Z'))).dropped).toEqual([]);
  expect(await deliveries()).toHaveLength(2);
  expect((await maintainPartitions(pool, Date.parse('2027-01-13T00:00:00Z'))).dropped).toEqual([
    'webhook_deliveries_2026_11',
  ]);
  expect(await deliveries()).toEqual([{ kept_in: 'webhook_deliveries_2026_12', event_id: 'b' }]);
});

it('lets several processes keep house at once', async () => {
  const later = Date.parse('2028-03-15T00:00:00Z');
  const runs = await Promise.all([1, 2, 3].map(async () => maintainPartitions(pool, later)));
  expect(runs.flatMap((run) => run.created).sort()).toEqual([
    'webhook_deliveries_2028_03',
    'webhook_deliveries_2028_04',
    'webhook_deliveries_2028_05',
  ]);
});

it('refuses no delivery while it makes the partition of the month at hand', async () => {
  let busy = true;
  let stored = 0;
  const store = async (): Promise<void> => {
    while (busy) {
      await pool.query(
        `insert into webhook_deliveries (source, event_id, body, headers) values ('sim', 'busy', '', '{}')`,
      );
      stored += 1;
    }
  };
  const storing = Array.from({ length: 4 }, store);
  await expect.poll(() => stored).toBeGreaterThan(20);
  const { created } = await maintainPartitions(pool, Date.now());
  const before = stored;
  await expect.poll(() => stored).toBeGreaterThan(before + 20);
  busy = false;
  await Promise.all(storing);
  expect(created).toHaveLength(3);
  const kept = await pool.query(
    `select tableoid::regclass::text as kept_in from webhook_deliveries where event_id = 'busy' group by 1`,
  );
  expect(kept.rows).toEqual([{ kept_in: created[0] }]);
});
