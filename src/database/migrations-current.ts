import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Db } from './pool.ts';

const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url));

/** Whether every migration that this code knows has run. A newer database is fine: migrations go forward only. */
export async function migrationsCurrent(db: Db): Promise<boolean> {
  const names = (await readdir(MIGRATIONS)).filter((file) => file.endsWith('.sql')).map((file) => file.slice(0, -4));
  const known = await db.query<{ known: boolean }>(`select to_regclass('schema_migrations') is not null as known`);
  if (known.rows[0]?.known !== true) return false;
  const { rows } = await db.query<{ missing: boolean }>(
    `select exists (select 1 from unnest($1::text[]) as n (name)
                    where not exists (select 1 from schema_migrations m where m.name = n.name)) as missing`,
    [names],
  );
  return rows[0]?.missing === false;
}
