import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';

/** What an API key's client may do. */
export const API_SCOPES = ['orders', 'money', 'ops:read', 'ops:write'] as const;
export type ApiScope = (typeof API_SCOPES)[number];

/** Only the hash is kept. A key has 192 random bits, so that a fast hash is enough. */
export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

export interface ApiKeyRequest {
  /** `[a-z0-9-]{1,64}`: the principal, which stays the same when its keys change (E3). */
  readonly client: string;
  /** Null keeps the client's scopes, and is refused for a new client. */
  readonly scopes: readonly ApiScope[] | null;
  /** How long the client's older keys go on, in seconds; both sides need time to change over. */
  readonly overlapSeconds?: number;
}

/**
 * Makes a key for a client, and the client if it is new; older keys end after the overlap.
 *
 * @returns the key, shown this once
 */
export async function rotateApiKey(databaseUrl: string, request: ApiKeyRequest): Promise<string> {
  const key = `po_${randomBytes(24).toString('base64url')}`;
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const known = await client.query(
      `insert into api_clients (name, scopes) select $1, $2::text[] where $2::text[] is not null
       on conflict (name) do update set scopes = excluded.scopes returning 1`,
      [request.client, request.scopes],
    );
    if (known.rowCount === 0) {
      const exists = await client.query('select 1 from api_clients where name = $1', [request.client]);
      if (exists.rowCount === 0) throw new Error(`No client named ${request.client}: create it with its scopes first.`);
    }
    await client.query(
      `with older as (
         update api_keys set expires_at = least(coalesce(expires_at, 'infinity'), now() + make_interval(secs => $3))
         where client = $2)
       insert into api_keys (key_sha256, client) values ($1, $2)`,
      [hashApiKey(key), request.client, request.overlapSeconds ?? 0],
    );
    return key;
  } finally {
    await client.end();
  }
}
