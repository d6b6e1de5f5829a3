import { type ApiClient, findApiKey } from '../database/find-api-key.ts';
import type { Db } from '../database/pool.ts';
import type { ApiScope } from '../database/rotate-api-key.ts';
import { Problem } from '../domain/problem.ts';

/** Keys of ours are 35 characters; what is longer is none and need not be hashed. */
const BEARER = /^Bearer +([\x21-\x7e]{1,200}) *$/i;

/**
 * The client whose key the request carries.
 *
 * @param scope what it must be allowed; null: nothing in particular
 * @throws Problem `unauthenticated`, or `insufficient_scope` where the client may not do this
 */
export async function authenticate(
  db: Db,
  authorization: string | undefined,
  scope: ApiScope | null,
): Promise<ApiClient> {
  const key = BEARER.exec(authorization ?? '')?.[1];
  const client = key === undefined ? null : await findApiKey(db, key);
  if (client === null) {
    const detail =
      authorization === undefined
        ? 'Send the API key as "Authorization: Bearer …".'
        : 'The API key is not known, or has ended.';
    throw new Problem('unauthenticated', detail, { headers: { 'www-authenticate': 'Bearer' } });
  }
  if (scope !== null && !client.scopes.includes(scope)) {
    throw new Problem('insufficient_scope', `This needs the scope ${scope}, which ${client.name} does not have.`);
  }
  return client;
}
