import type { Pool } from 'pg';

/** What may grow by a repetition: the record of what came in. All else is money, its consequences, or the memory of them. */
const RECORDS_OF_WHAT_CAME = ['webhook_events', 'webhook_refusals', 'api_keys', 'pgmigrations'];

/** By table: how many rows, and a digest of all that is in them except when a row was last touched. */
export async function digestEffects(pool: Pool): Promise<Record<string, string>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'public' and c.relkind = 'r' and not c.relispartition and c.relname <> all($1)
     order by c.relname`,
    [RECORDS_OF_WHAT_CAME],
  );
  const digests: Record<string, string> = {};
  for (const { name } of tables) {
    const { rows } = await pool.query<{ digest: string }>(
      `select count(*) || ' rows, ' || md5(coalesce(string_agg(row, E'\\n' order by row), '')) as digest
       from (select (to_jsonb(t) - 'updated_at')::text as row from ${name} t) as r`,
    );
    digests[name] = rows[0]?.digest ?? '';
  }
  return digests;
}
