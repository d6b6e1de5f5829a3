import { migrationsCurrent } from '../database/migrations-current.ts';
import { createPool, type Pool } from '../database/pool.ts';
import { CommandError } from './command-error.ts';

/** Works on a migrated database, and closes it whatever comes of the work. */
export async function withPool<T>(url: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = createPool({ url, max: 4, applicationName: 'paidonce-cli' });
  try {
    if (!(await migrationsCurrent(pool))) {
      throw new CommandError('The database is not up to date: run npx paidonce migrate first.');
    }
    return await work(pool);
  } finally {
    await pool.end();
  }
}

/** For people: where a database is, without its password. */
export function describeDatabase(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${decodeURIComponent(pathname.slice(1)) || 'the default database'} at ${hostname}:${port === '' ? '5432' : port}`;
}
