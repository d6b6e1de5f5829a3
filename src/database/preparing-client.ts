import { createHash } from 'node:crypto';
import pg from 'pg';

/** PostgreSQL cuts a name after 63 bytes; half of a SHA-256 tells any two statements apart. */
const NAME_LENGTH = 32;
const names = new Map<string, string>();

/**
 * A connection on which, once told so, each statement with parameters is prepared where it is first used: after that
 * PostgreSQL neither parses it again nor, once it knows a plan that serves for all values, plans it again. Most of what a
 * short statement costs is that.
 * Statements are named by their text, so that the same one behind a pooler has the same name on every connection.
 *
 * Needs one server connection for each of ours, or a pooler that follows prepared statements (PgBouncer from 1.21 on, with
 * max_prepared_statements above 0).
 */
export class PreparingClient extends pg.Client {
  /** The server process behind the connection, as the server told it at the beginning. */
  declare readonly processID: number | null;
  private prepares = false;

  /** From here on. */
  prepareStatements(): void {
    this.prepares = true;
  }

  // The overloads of the driver say more than this, and hold all the same: what it answers is handed on.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  override query(...args: any[]): any {
    const [statement, ...rest] = args as unknown[];
    const query = super.query.bind(this) as (...given: unknown[]) => unknown;
    if (!this.prepares) return query(statement, ...rest);
    const [values] = rest;
    if (typeof statement === 'string' && Array.isArray(values))
      return query({ name: nameOf(statement), text: statement, values }, ...rest.slice(1));
    if (hasParameters(statement)) return query({ name: nameOf(statement.text), ...statement }, ...rest);
    return query(statement, ...rest);
  }
}

function hasParameters(statement: unknown): statement is { text: string; values: unknown[] } {
  const { text, values } = (statement ?? {}) as { text?: unknown; values?: unknown };
  return typeof text === 'string' && Array.isArray(values);
}

function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = createHash('sha256').update(text).digest('hex').slice(0, NAME_LENGTH);
    names.set(text, name);
  }
  return name;
}
