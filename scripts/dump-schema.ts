import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrate } from '../src/database/migrate.ts';
import { createPool } from '../src/database/pool.ts';
import { freePorts } from '../src/stack/ports.ts';
import { postgresUrl } from '../src/stack/postgres-settings.ts';
import { startPostgres } from '../src/stack/start-postgres.ts';
import { schemaText } from './schema-text.ts';

/** `npm run schema`: writes schema.sql from what the migrations make in an empty database of a server of its own. */

const FILE = fileURLToPath(new URL('../schema.sql', import.meta.url));

const folder = await mkdtemp(join(tmpdir(), 'paidonce-schema-'));
try {
  const [port = 0] = await freePorts(1);
  const settings = { dataFolder: join(folder, 'postgres'), port, password: 'schema', logFile: join(folder, 'log') };
  const postgres = await startPostgres(settings);
  try {
    await migrate(postgresUrl(settings));
    const pool = createPool({ url: postgresUrl(settings), max: 1, applicationName: 'schema' });
    try {
      await writeFile(FILE, await schemaText(pool));
    } finally {
      await pool.end();
    }
  } finally {
    await postgres.stop('SIGINT', 5_000);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.stdout.write(`${FILE}\n`);
