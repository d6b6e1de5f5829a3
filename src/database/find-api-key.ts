import type { Db } from './pool.ts';
import { type ApiScope, hashApiKey } from './rotate-api-key.ts';

/** Who calls, and what it may do. */
export interface ApiClient {
  /** The principal, which survives the rotation of its keys (E3). */
  readonly name: string;
  readonly scopes: readonly ApiScope[];
}

/** The client whose key this is; null for a key that nobody has or that has ended. */
export async function findApiKey(db: Db, key: string): Promise<ApiClient | null> {
  const { rows } = await db.query<ApiClient>(
    `select c.name, c.scopes from api_keys k join api_clients c on c.name = k.client
     where k.key_sha256 = $1 and (k.expires_at is null or k.expires_at > now())`,
    [hashApiKey(key)],
  );
  return rows[0] ?? null;
}
