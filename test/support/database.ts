import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { createPool } from '../../src/database/pool.ts';
import { askForService } from './ask-for-service.ts';
import type { PostgresService } from './services.ts';

export interface TestDatabase {
  /** For processes that open connections of their own. */
  readonly url: string;
  readonly name: string;
  readonly pool: pg.Pool;
  /** Closes the pool and removes the database, whoever is still connected. */
  drop(): Promise<void>;
}

/** A database of the test's own, migrated, on the run's PostgreSQL. Takes some ten milliseconds. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const service = await askForService<PostgresService>('/postgres');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer(service.url, `create database ${name} template ${service.template}`);
  const address = new URL(service.url);
  address.pathname = `/${name}`;
  // The product's own pool: bigint columns arrive as in production.
  const pool = createPool({ url: address.href, max: 20, applicationName: 'test' });
  return {
    url: address.href,
    name,
    pool,
    drop: async () => {
      await pool.end();
      await onServer(service.url, `drop database if exists ${name} with (force)`);
    },
  };
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
