import { createHash } from 'node:crypto';
import type { Pool } from 'pg';

/** What may grow by a repetition: the record of what came in. All else is money, its consequences, or the memory of them. */
const RECORDS_OF_WHAT_CAME = ['webhook_events', 'webhook_refusals', 'api_keys', 'pgmigrations'];
/** Who was told of which dead letter, and when: that goes by the clock. The dead letters themselves are compared. */
const TOLD_BY_THE_CLOCK = ['alerts', 'alert_channels', 'alert_tellings'];

/** By table: every row as JSON text, in an order of its own, with all that is in it except when it was last touched. */
export async function dumpEffects(pool: Pool): Promise<Record<string, string[]>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> all($1)
     order by c.relname`,
    [[...RECORDS_OF_WHAT_CAME, ...TOLD_BY_THE_CLOCK]],
  );
  const dump: Record<string, string[]> = {};
  for (const { name } of tables) {
    const { rows } = await pool.query<{ row: string }>(
      `select (to_jsonb(t) - 'updated_at')::text as row from ${name} t order by 1`,
    );
    dump[name] = rows.map(({ row }) => row);
  }
  return dump;
}

/** The same in short: how many rows, and a digest of them. */
export async function digestEffects(pool: Pool): Promise<Record<string, string>> {
  const { webhook_deliveries: _came, ...effects } = await dumpEffects(pool);
  return Object.fromEntries(
    Object.entries(effects).map(([table, rows]) => {
      const digest = createHash('md5').update(rows.join('\n')).digest('hex');
      return [table, `${rows.length} rows, ${digest}`];
    }),
  );
}
