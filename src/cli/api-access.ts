import { readFileSync } from 'node:fs';

/** Where the API is, and a key for it. */
export interface ApiAccess {
  readonly url: string;
  readonly key: string;
}

export interface ApiResult {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The API answers within 5 s and its own slack; past this nobody is there. */
const TIMEOUT_MS = 20_000;

/**
 * What a running `npm start` has left in `.paidonce/dev.json` of the current folder, else PAIDONCE_API_URL and
 * PAIDONCE_API_KEY.
 *
 * @throws an error that says what to do
 */
export function readApiAccess(env: NodeJS.ProcessEnv, devFile = '.paidonce/dev.json'): ApiAccess {
  const dev = readDevFile(devFile);
  const url = dev?.api_url ?? env['PAIDONCE_API_URL'];
  const key = dev?.api_key ?? env['PAIDONCE_API_KEY'];
  if (url === undefined || url === '' || key === undefined || key === '') {
    throw new Error('No API to talk to: run `npm start` in this folder, or set PAIDONCE_API_URL and PAIDONCE_API_KEY.');
  }
  return { url: url.replace(/\/+$/, ''), key };
}

function readDevFile(path: string): { api_url?: string; api_key?: string } | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as { api_url?: string; api_key?: string };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new Error(`${path} cannot be read: ${(error as Error).message}. Remove it, or run \`npm start\` again.`, {
      cause: error,
    });
  }
}

/** One call, sent once. Throws where no answer comes. */
export async function callApi(
  access: ApiAccess,
  method: 'GET' | 'POST',
  path: string,
  request: { readonly key?: string; readonly body?: unknown } = {},
): Promise<ApiResult> {
  const response = await fetch(`${access.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${access.key}`,
      ...(request.key === undefined ? {} : { 'idempotency-key': request.key }),
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as ApiResult['body'] };
}
