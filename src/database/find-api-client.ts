import type { Db } from './pool.ts';

/** What a client may do; null where there is no client of this name. */
export async function findApiClient(db: Db, name: string): Promise<{ readonly scopes: readonly string[] } | null> {
  const { rows } = await db.query<{ scopes: string[] }>('select scopes from api_clients where name = $1', [name]);
  return rows[0] ?? null;
}
