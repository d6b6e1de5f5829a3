export interface PostgresSettings {
  /** Made on the first start, kept afterwards. */
  readonly dataFolder: string;
  /** On 127.0.0.1; there is no socket in the file system. */
  readonly port: number;
  /** Letters and digits only. */
  readonly password: string;
  /** The data folder may still know another password. */
  readonly passwordIsNew?: boolean;
  readonly logFile: string;
  /** Further `name=value` settings of the server. */
  readonly serverSettings?: readonly string[];
}

/** The one role and the one database that are made; the role owns the server. */
export const POSTGRES_NAME = 'paidonce';

/** Where that database is reached, with the password. */
export function postgresUrl(settings: Pick<PostgresSettings, 'port' | 'password'>, database = POSTGRES_NAME): string {
  return `postgres://${POSTGRES_NAME}:${settings.password}@127.0.0.1:${String(settings.port)}/${database}`;
}
