import pg from 'pg';
import { DatabaseUnavailable, isStalePlan, toDatabaseError } from './postgres-errors.ts';
import { PreparingClient } from './preparing-client.ts';

/** Whatever can run a statement: the pool for one alone, a client inside `inTransaction`. */
export type Db = pg.Pool | pg.PoolClient;
export type Pool = pg.Pool;
/** A connection inside a transaction. */
export type Tx = pg.PoolClient;

export interface PoolOptions {
  readonly url: string;
  /** Connections at most. */
  readonly max: number;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** Whether a connection prepares its statements (`PreparingClient`); `auto`: where nothing stands between us and PostgreSQL. */
  readonly prepared?: 'auto' | 'on' | 'off';
}

/** A starved pool must answer "not now" while the caller still listens: gateways give up after 5 s. */
const ACQUIRE_TIMEOUT_MS = 2_000;
/** Every statement here takes milliseconds; one that waits longer waits for a lock or for a dead server. */
const STATEMENT_TIMEOUT_MS = 5_000;
/** Past the server's own limit, for a server that does not answer at all. */
const QUERY_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 1_000;
/** A process that hangs in a transaction lets go of its locks. */
const IDLE_IN_TRANSACTION_MS = 10_000;
const IDLE_CONNECTION_MS = 30_000;

/**
 * The statement limits go with each transaction rather than into the connection's start-up message, which PgBouncer in
 * transaction mode would refuse; and they ride on BEGIN, so that they cost no round trip.
 */
const BEGIN =
  `begin; set local statement_timeout = ${STATEMENT_TIMEOUT_MS}; ` +
  `set local idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}`;

const INT8 = pg.types.builtins.INT8;

/** bigint columns arrive as bigint: as the driver's strings they would add up by concatenation. Only for pools made here. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === (INT8 as number) && format !== 'binary'
      ? BigInt
      : (pg.types.getTypeParser(oid, format) as unknown)) as typeof pg.types.getTypeParser,
};

/** Opens no connection yet. Idle connections that break are dropped silently: the next statement opens another. */
export function createPool({ url, max, applicationName, prepared = 'auto' }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    application_name: applicationName,
    connectionTimeoutMillis: ACQUIRE_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_CONNECTION_MS,
    keepAlive: true,
    types,
    Client: PreparingClient,
    // eslint-disable-next-line @typescript-eslint/no-misused-promises -- the pool waits for it, which its types do not say
    onConnect: (client) => makeReady(client as PreparingClient, prepared),
  });
  pool.on('error', ignore);
  // Between two statements of a transaction nobody listens, and an 'error' event without a listener ends the process.
  pool.on('connect', (client) => void client.on('error', ignore));
  return pool;
}

/**
 * A single statement that its caller gave up on ends at the server too, instead of keeping a connection there: else a
 * table that is locked for a while costs all of them. Through a pooler this reaches one server connection or another.
 */
const ON_CONNECT = `set statement_timeout = ${STATEMENT_TIMEOUT_MS}; select pg_backend_pid() as pid`;

async function makeReady(client: PreparingClient, prepared: PoolOptions['prepared']): Promise<void> {
  // Two statements, so two results, which the driver's types do not say.
  const [, answer] = (await client.query(ON_CONNECT)) as unknown as [unknown, pg.QueryResult<{ pid: number }>];
  // A pooler tells each client a process of its own making; PostgreSQL tells the one that really serves it.
  const direct = answer.rows[0]?.pid === client.processID;
  if (prepared === 'on' || (prepared === 'auto' && direct)) client.prepareStatements();
}

/** The statement that needed the connection fails by itself. */
function ignore(): void {}

/**
 * Runs `work` in one transaction, READ COMMITTED, exactly once: what fails is thrown, as `toDatabaseError` says it, and
 * whether to try again is decided by Temporal or by the HTTP client.
 */
export async function inTransaction<T>(pool: pg.Pool, work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
  const tx = await pool.connect().catch((error: unknown) => {
    throw toDatabaseError(error);
  });
  let broken: Error | undefined;
  try {
    await tx.query(BEGIN);
    const result = await work(tx);
    await commit(tx);
    return result;
  } catch (error) {
    const failure = toDatabaseError(error);
    broken = isUseless(failure) ? (failure as Error) : await rollback(tx);
    throw failure;
  } finally {
    // A connection in an unknown state is closed: the server rolls back what it still held.
    tx.release(broken);
  }
}

/** One statement alone with a time limit of its own, in milliseconds; the pool's limit is meant for ordinary ones. */
export async function queryWithin<R extends pg.QueryResultRow>(
  db: Db,
  timeoutMs: number,
  text: string,
  values: unknown[],
): Promise<R[]> {
  const config = { text, values, query_timeout: timeoutMs };
  const { rows } = await db.query<R>(config);
  return rows;
}

/** A transaction in which a statement failed answers COMMIT with ROLLBACK, without an error. */
async function commit(tx: pg.PoolClient): Promise<void> {
  const { command } = await tx.query('commit');
  if (command !== 'COMMIT')
    throw new Error('The transaction was rolled back: a statement in it failed and the error was swallowed.');
}

/** On a connection that answers no more, ROLLBACK would only wait out another time limit; one with a stale plan keeps it. */
function isUseless(failure: unknown): boolean {
  if (!(failure instanceof DatabaseUnavailable)) return false;
  return !(failure.cause instanceof pg.DatabaseError) || isStalePlan(failure.cause);
}

async function rollback(tx: pg.PoolClient): Promise<Error | undefined> {
  try {
    await tx.query('rollback');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
