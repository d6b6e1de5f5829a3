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
 * One call, sent once; whatever status it is answered with.
 *
 * @throws where no answer comes
 */
export async function askApi(
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
  const body = (await response.json().catch(() => ({}))) as ApiResult['body'];
  return { status: response.status, headers: response.headers, body };
}
