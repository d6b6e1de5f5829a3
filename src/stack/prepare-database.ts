import { migrate } from '../database/migrate.ts';
import { API_SCOPES, rotateApiKey } from '../database/rotate-api-key.ts';
import { StartError } from './start-error.ts';

export interface PreparedDatabase {
  /** The names of the migrations that ran. */
  readonly migrations: readonly string[];
  /** Of the client `dev`, with every scope. */
  readonly apiKey: string;
}

/** Migrates the database and makes the developer's API key. Throws a StartError that says what PostgreSQL said. */
export async function prepareDatabase(databaseUrl: string): Promise<PreparedDatabase> {
  try {
    const migrations = await migrate(databaseUrl);
    const apiKey = await rotateApiKey(databaseUrl, { client: 'dev', scopes: API_SCOPES });
    return { migrations, apiKey };
  } catch (error) {
    // A connection refused on several addresses has no message of its own.
    const { message, code } = error as NodeJS.ErrnoException;
    throw new StartError(`The database at ${placeOf(databaseUrl)} could not be prepared: ${message || String(code)}`);
  }
}

/** Host and database, without user and password. */
function placeOf(databaseUrl: string): string {
  if (!URL.canParse(databaseUrl)) return 'DATABASE_URL';
  const { host, pathname } = new URL(databaseUrl);
  return `${host}${pathname}`;
}
