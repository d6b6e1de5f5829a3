import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPool, inTransaction, queryWithin } from '../../src/database/pool.ts';
import { DatabaseUnavailable } from '../../src/database/postgres-errors.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

/** One connection, so that a statement meets what it left there before. */
const one = (options: { url?: string; prepared?: 'off' } = {}) =>
  createPool({ url: db.url, max: 1, applicationName: 'one', ...options });

it('a statement with parameters is prepared once for a connection, and answers as ever', async () => {
  const pool = one();
  for (const n of [1n, 2n]) {
    expect((await pool.query('select $1::bigint as n', [n])).rows).toEqual([{ n }]);
    expect(await inTransaction(pool, async (tx) => (await tx.query('select $1::bigint + 1 as n', [n])).rows)).toEqual([
      { n: n + 1n },
    ]);
    expect(await queryWithin(pool, 1_000, 'select $1::bigint + 2 as n', [n])).toEqual([{ n: n + 2n }]);
  }
  const { rows } = await pool.query(
    'select statement, generic_plans + custom_plans as used from pg_prepared_statements order by 1',
  );
  expect(rows).toEqual([
    { statement: 'select $1::bigint + 1 as n', used: 2n },
    { statement: 'select $1::bigint + 2 as n', used: 2n },
    { statement: 'select $1::bigint as n', used: 2n },
  ]);
  await pool.end();
});

it('where it is told not to, it keeps nothing on the connection', async () => {
  const pool = one({ prepared: 'off' });
  await pool.query('select $1::bigint as n', [1n]);
  expect((await pool.query('select name from pg_prepared_statements')).rows).toEqual([]);
  await pool.end();
});

it.each(['alone', 'in a transaction'])(
  'a statement (%s) that was prepared before a migration fails once, retryably, and is then prepared anew',
  async (how) => {
    const pool = one();
    const read = async (): Promise<unknown[]> => {
      const text = 'select * from migrated where id = $1';
      if (how === 'alone') return (await pool.query(text, [1])).rows;
      return inTransaction(pool, async (tx) => (await tx.query(text, [1])).rows);
    };
    await db.pool.query('create table migrated (id int); insert into migrated values (1)');
    expect(await read()).toEqual([{ id: 1 }]);
    await db.pool.query('alter table migrated add column added int');
    await expect(read()).rejects.toThrow(how === 'alone' ? 'cached plan' : DatabaseUnavailable);
    expect(await read()).toEqual([{ id: 1, added: null }]);
    await db.pool.query('drop table migrated');
    await pool.end();
  },
);
