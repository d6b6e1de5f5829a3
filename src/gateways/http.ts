import { GatewayError } from '../domain/gateway-error.ts';
import { parseRetryAfter } from '../domain/parse-retry-after.ts';
import { AnswerTooLarge, readAnswer } from './read-answer.ts';

interface JsonHttpOptions {
  /** The configured account's name; stands in every message. */
  readonly source: string;
  readonly baseUrl: string;
  /** Sent with every call, the authorization among them. */
  readonly headers: Readonly<Record<string, string>>;
  /** From the first byte sent to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Reads an answer's text; throws where it cannot. `JSON.parse` without better knowledge. */
  readonly parse?: (text: string) => unknown;
  /** Where the gateway's own code stands in a refusal's body; `{code}` without better knowledge. */
  readonly codeOf?: (answer: unknown) => unknown;
}

export interface JsonHttp {
  /**
   * The answer's JSON, or null where the gateway does not know the object (404). Throws `temporary` and nothing else:
   * a read changes nothing, so asking again is always right.
   *
   * @param parse in place of the one that reads all answers
   */
  get(path: string, parse?: (text: string) => unknown): Promise<unknown>;
  /** The answer's JSON. Throws `rejected`, `temporary` or `unknown`. */
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<unknown>;
}

interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  /** Null: the body broke off, never came, or was too large. */
  readonly text: string | null;
  readonly retryAfterMs: number | null;
}

/** Refusals by which a gateway says that the request itself was understood, and is not going to be granted. */
const DEFINITE_REFUSALS: readonly number[] = [402, 409, 422];

/**
 * A JSON API over HTTP with a timeout and no retry (retries live in Temporal alone, F4). A redirect is not followed:
 * following one would send a write again.
 */
export function createJsonHttp(options: JsonHttpOptions): JsonHttp {
  const parse = options.parse ?? (JSON.parse as (text: string) => unknown);
  const base = options.baseUrl.replace(/\/+$/, '');

  function prepare({ method, path, body, headers }: Call): Request {
    try {
      const bytes = body === undefined ? undefined : new Blob([JSON.stringify(body)]);
      return new Request(base + path, {
        method,
        headers: {
          ...options.headers,
          ...headers,
          ...(bytes && { 'content-type': 'application/json', 'content-length': String(bytes.size) }),
        },
        redirect: 'manual',
        // A stream can be read once, so `fetch` cannot do what it does with any other body after a 421: send it again.
        ...(bytes && { body: bytes.stream(), duplex: 'half' as const }),
      });
    } catch (cause) {
      const code = 'request_impossible';
      const kind = method === 'GET' ? 'temporary' : 'rejected';
      throw failure({ method, path }, 'was sent nothing, as the request cannot be written down', {
        kind,
        code,
        ourFault: true,
        cause,
      });
    }
  }

  async function send(call: Call): Promise<Answer> {
    const request = prepare(call);
    let status: number | null = null;
    let retryAfterMs: number | null = null;
    try {
      const response = await fetch(request, { signal: AbortSignal.timeout(options.timeoutMs) });
      status = response.status;
      retryAfterMs = parseRetryAfter(response.headers.get('retry-after'), Date.now());
      return { status, text: response.body === null ? '' : await readAnswer(response.body), retryAfterMs };
    } catch (cause) {
      // A refusal whose text cannot be read is a refusal all the same: its status came whole.
      if (status !== null && status >= 400) return { status, text: null, retryAfterMs };
      throw unanswered(call, cause);
    }
  }

  function unanswered(call: Call, cause: unknown): GatewayError {
    const kind = call.method === 'GET' ? 'temporary' : 'unknown';
    if (cause instanceof AnswerTooLarge) {
      return failure(call, 'gave an answer that is too large to be read', { kind, code: 'answer_too_large', cause });
    }
    if (nothingWasSent(cause)) {
      return failure(call, 'could not be reached', { kind: 'temporary', code: connectionCode(cause), cause });
    }
    const timedOut = cause instanceof Error && cause.name === 'TimeoutError';
    return failure(
      call,
      timedOut ? `did not answer within ${options.timeoutMs} ms` : 'broke the connection off before it had answered',
      { kind, code: timedOut ? 'timeout' : 'connection_lost', cause },
    );
  }

  function failure(call: Call, what: string, details: ConstructorParameters<typeof GatewayError>[1]): GatewayError {
    return new GatewayError(`${options.source} ${what} (${call.method} ${call.path}).`, details);
  }

  function gatewayCode(answer: Answer): string {
    const read = options.codeOf ?? ((body: unknown) => (body as { code?: unknown } | null)?.code);
    try {
      const code = read(parse(answer.text ?? ''));
      if (typeof code === 'string' && /^[\x21-\x7e]{1,100}$/.test(code)) return code;
    } catch {
      // A refusal need not be JSON; its status speaks for it.
    }
    return `http_${answer.status}`;
  }

  function refusal(call: Call, answer: Answer): GatewayError {
    const { status, retryAfterMs } = answer;
    const code = gatewayCode(answer);
    const what = `answered ${status}${code === `http_${status}` ? '' : ` ${code}`}`;
    if (status === 429) return failure(call, what, { kind: 'temporary', code, retryAfterMs });
    if (call.method === 'GET') {
      const unauthorized = status === 401 || status === 403;
      return failure(call, what, { kind: 'temporary', code: unauthorized ? 'unauthorized' : code, retryAfterMs });
    }
    // A 408 can come from something in front of the gateway that had already passed the request on.
    if (status < 400 || status >= 500 || status === 408) {
      return failure(call, what, { kind: 'unknown', code, retryAfterMs });
    }
    return failure(call, what, { kind: 'rejected', code, ourFault: !DEFINITE_REFUSALS.includes(status) });
  }

  async function request(call: Call, read = parse): Promise<unknown> {
    const answer = await send(call);
    if (call.method === 'GET' && answer.status === 404) return null;
    if (answer.status < 200 || answer.status > 299) throw refusal(call, answer);
    try {
      const value = read(answer.text ?? '');
      if (value !== null) return value;
    } catch {
      // The parser's own message would quote the body, which may hold personal data.
    }
    throw failure(call, 'gave an answer that is not JSON', {
      kind: call.method === 'GET' ? 'temporary' : 'unknown',
      code: 'unreadable_answer',
    });
  }

  return {
    get: (path, read) => request({ method: 'GET', path }, read),
    post: (path, body, headers = {}) => request({ method: 'POST', path, body, headers }),
  };
}

/** What matters of the system's errors that `fetch` wraps. */
interface SystemError {
  readonly message: string;
  readonly code?: unknown;
  readonly syscall?: unknown;
}

/** The failures of looking a name up and of opening a connection; after them not one byte of the request was sent. */
function nothingWasSent(cause: unknown): boolean {
  const found = innermost(cause);
  return found.length > 0 && found.every(isConnectFailure);
}

function isConnectFailure({ message, code, syscall }: SystemError): boolean {
  if (syscall === 'connect' || syscall === 'getaddrinfo' || code === 'UND_ERR_CONNECT_TIMEOUT') return true;
  // `fetch` never opens a connection to a port that it has on its list; it has no code for that.
  return message === 'bad port';
}

function connectionCode(cause: unknown): string {
  const code = innermost(cause)[0]?.code;
  if (code === 'ECONNREFUSED') return 'connection_refused';
  return code === 'ENOTFOUND' || code === 'EAI_AGAIN' ? 'host_not_found' : 'connection_failed';
}

/** `fetch` wraps the system's error, and wraps several where a name had several addresses. */
function innermost(error: unknown): SystemError[] {
  if (error instanceof AggregateError) return error.errors.flatMap(innermost);
  if (!(error instanceof Error)) return [];
  return error.cause instanceof Error ? innermost(error.cause) : [error];
}
