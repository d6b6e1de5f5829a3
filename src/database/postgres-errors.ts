import pg from 'pg';

/**
 * PostgreSQL cannot be had in time, or asked to be asked again. Nothing was written, unless the connection broke in COMMIT:
 * then all of it or nothing. An ordinary retryable failure: Temporal repeats it, and the HTTP API answers 503 `unavailable`.
 */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';

  constructor(cause: unknown) {
    super(`PostgreSQL is not available: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** Whole SQLSTATE classes that say "not now": connection, authorisation, resources, operator, system. */
const UNAVAILABLE_CLASSES: ReadonlySet<string> = new Set(['08', '28', '53', '57', '58']);
const UNAVAILABLE_STATES: ReadonlySet<string> = new Set([
  '25006', // read-only: a standby, or a primary that is being replaced
  '25P03', // idle in transaction for too long
  '3D000', // the database itself is not there
  '40001', // serialization failure
  '40P01', // deadlock
  '55P03', // lock not available
]);

const NETWORK_CODES: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'ENOENT'],
  ...['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'EMFILE', 'ENFILE'],
]);

/** `pg` says these by their text alone; they carry no code. */
const DRIVER_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end)/;

/** What a failed query or connection means to the callers: DatabaseUnavailable, or the error as it was. */
export function toDatabaseError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DatabaseUnavailable) return error;
  if (error instanceof pg.DatabaseError && error.code !== undefined) {
    const state = error.code;
    // Whatever ends a session, or refuses to begin one.
    const fatal = error.severity === 'FATAL' || error.severity === 'PANIC';
    if (fatal || isStalePlan(error) || UNAVAILABLE_CLASSES.has(state.slice(0, 2)) || UNAVAILABLE_STATES.has(state))
      return new DatabaseUnavailable(error);
    return error;
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return NETWORK_CODES.has(code) || DRIVER_MESSAGES.test(error.message) ? new DatabaseUnavailable(error) : error;
}

/**
 * Whether a statement was prepared before a migration changed what it answers: on this connection it would fail for ever, on a
 * new one it is prepared anew.
 */
export function isStalePlan(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '0A000' && error.routine === 'RevalidateCachedQuery';
}

/** Whether the error, seen at any layer, means that PostgreSQL cannot be had now. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return toDatabaseError(error) instanceof DatabaseUnavailable;
}

/** Whether PostgreSQL took offence at a value itself (out of range, nested too deeply): the same again fails again. */
export function isValueRefused(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError &&
    (error.code?.startsWith('22') === true || error.code?.startsWith('54') === true)
  );
}

/** Whether PostgreSQL ended the statement to free others that waited for it in a circle. */
export function isDeadlock(error: unknown): boolean {
  const cause = error instanceof DatabaseUnavailable ? error.cause : error;
  return cause instanceof pg.DatabaseError && cause.code === '40P01';
}
