import type { Pool } from 'pg';

/** Every table that holds money, a consequence of money, or the memory of what was acted on. */
const TABLES = [
  'orders',
  'order_lines',
  'order_payments',
  'payments',
  'refunds',
  'gateway_calls',
  'checkouts',
  'processed_events',
  'state_transitions',
  'outbox',
  'dead_letters',
  'bookings',
  'loyalty_entries',
  'gift_cards',
  'packages',
  'invoices',
  'ledger_entries',
  'idempotency_keys',
] as const;

/** By table: how many rows, and a digest of all that is in them except when a row was last touched. */
export async function digestEffects(pool: Pool): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const table of TABLES) {
    const { rows } = await pool.query<{ digest: string }>(
      `select count(*) || ' rows, ' || md5(coalesce(string_agg(row, E'\\n' order by row), '')) as digest
       from (select (to_jsonb(t) - 'updated_at')::text as row from ${table} t) as r`,
    );
    digests[table] = rows[0]?.digest ?? '';
  }
  return digests;
}
