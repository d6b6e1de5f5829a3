import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';

const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url));

/**
 * Brings the database up to the newest migration: forward only, one transaction for all, guarded by the library's own lock, so that
 * several processes may call it at once.
 *
 * @returns the names of the migrations that ran; none when it was up to date
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const ran = await runner({
    databaseUrl,
    dir: MIGRATIONS,
    direction: 'up',
    migrationsTable: 'schema_migrations',
    // names are 0001_…, 0002_…: their order is their number
    checkOrder: true,
    singleTransaction: true,
    advisoryLockAcquireTimeout: undefined,
    logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  } as Parameters<typeof runner>[0]);
  return ran.map((migration) => migration.name);
}
