import { inTransaction, type Pool, type Tx } from './pool.ts';

/** The month at hand and two more, so that weeks of a maintenance that does not run are still no trouble. */
const MONTHS_AHEAD = 2;
/** What is promised, and a week more for whoever looks into something on the last day. */
const KEPT_DAYS = 35 + 7;
const DAY_MS = 86_400_000;

/** Attaching and dropping take short exclusive locks; an ack must not queue behind one that cannot be had. */
const LOCK_TIMEOUT_MS = 1_000;
const PREFIX = 'webhook_deliveries_';

/**
 * Keeps the deliveries' partitions: this month's and the next ones exist, months past the time they are kept are dropped
 * whole. Any number of processes may call it, at any time; those that come while one is at it do nothing.
 *
 * @param now milliseconds since the epoch
 * @returns the names of the tables that were made and dropped
 */
export async function maintainPartitions(pool: Pool, now: number): Promise<{ created: string[]; dropped: string[] }> {
  return inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<{ mine: boolean }>(
      `select pg_try_advisory_xact_lock(hashtextextended('webhook_deliveries partitions', 0)) as mine`,
    );
    if (rows[0]?.mine !== true) return { created: [], dropped: [] };
    await tx.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
    const existing = await partitions(tx);
    const created: string[] = [];
    for (let ahead = 0; ahead <= MONTHS_AHEAD; ahead += 1) {
      const month = monthOf(now, ahead);
      if (!existing.includes(tableOf(month))) {
        await createPartition(tx, month, monthOf(month, 1));
        created.push(tableOf(month));
      }
    }
    const oldest = now - KEPT_DAYS * DAY_MS;
    const dropped = existing.filter((table) => endOf(table) <= oldest);
    for (const table of dropped) await tx.query(`drop table ${table}`);
    // What came before the first partition was made lies in the default one.
    await tx.query('delete from webhook_deliveries_default where received_at < to_timestamp($1::float8 / 1000)', [
      oldest,
    ]);
    return { created, dropped };
  });
}

async function partitions(tx: Tx): Promise<string[]> {
  const { rows } = await tx.query<{ name: string }>(
    `select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
     where inhparent = 'webhook_deliveries'::regclass and relname ~ '^${PREFIX}[0-9]{4}_[0-9]{2}$' order by relname`,
  );
  return rows.map((row) => row.name);
}

/** Rows of the month that lie in the default partition move over: PostgreSQL refuses a partition that would leave them there. */
async function createPartition(tx: Tx, from: number, to: number): Promise<void> {
  const table = tableOf(from);
  const range = `'${new Date(from).toISOString()}' and received_at < '${new Date(to).toISOString()}'`;
  // A delivery that was already on its way into the default partition would be refused there once the new one stands.
  await tx.query('lock table webhook_deliveries in share row exclusive mode');
  await tx.query(`create table ${table} (like webhook_deliveries including all)`);
  await tx.query(
    `with moved as (delete from webhook_deliveries_default where received_at >= ${range} returning *)
     insert into ${table} select * from moved`,
  );
  await tx.query(
    `alter table webhook_deliveries attach partition ${table}
     for values from ('${new Date(from).toISOString()}') to ('${new Date(to).toISOString()}')`,
  );
}

/** The beginning, in UTC, of the month that lies `ahead` months after the one of `at`. */
function monthOf(at: number, ahead: number): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + ahead, 1);
}

function tableOf(month: number): string {
  return `${PREFIX}${new Date(month).toISOString().slice(0, 7).replace('-', '_')}`;
}

function endOf(table: string): number {
  const [year = 0, month = 0] = table.slice(PREFIX.length).split('_').map(Number);
  return Date.UTC(year, month, 1);
}
