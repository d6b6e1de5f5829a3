import type { TestDatabase } from './database.ts';
import { type ApiScope, rotateApiKey } from '../../src/database/rotate-api-key.ts';

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** As it came. */
  readonly text: string;
  /** Parsed, where it is JSON. */
  readonly body: any;
}

/** Calls the API as one client. */
export interface ApiCaller {
  get(path: string): Promise<ApiAnswer>;
  /** A string is sent as it is. */
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiAnswer>;
  patch(path: string, body: object): Promise<ApiAnswer>;
}

export const ALL_SCOPES: readonly ApiScope[] = ['orders', 'money', 'ops:read', 'ops:write'];

/** A caller with a key of the client's own. */
export async function apiCaller(
  database: TestDatabase,
  url: string,
  client = 'shop',
  scopes: readonly ApiScope[] = ALL_SCOPES,
): Promise<ApiCaller> {
  const key = await rotateApiKey(database.url, { client, scopes });
  return callerWithKey(url, key);
}

export function callerWithKey(url: string, key: string): ApiCaller {
  const call = async (
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<ApiAnswer> => {
    const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...headers },
      ...sent,
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
  };
  return {
    get: (path) => call('GET', path, undefined, {}),
    post: (path, body, headers = {}) => call('POST', path, body, headers),
    patch: (path, body) => call('PATCH', path, body, {}),
  };
}
