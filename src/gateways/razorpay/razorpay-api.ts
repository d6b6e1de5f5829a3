import { GatewayError } from '../../domain/gateway-error.ts';
import type { SourceConfig } from '../../domain/source-config.ts';
import { objectIn } from '../event-body.ts';
import { parseExactJson } from '../exact-json.ts';
import { createJsonHttp, type JsonHttp } from '../http.ts';

const PUBLIC_API = 'https://api.razorpay.com';

/** The most that Razorpay puts on one page; without asking it gives ten. */
export const PAGE = 100;

/** Razorpay refuses nearly everything as 400 BAD_REQUEST_ERROR; only the description tells the reasons apart. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/id provided does not exist|requested URL was not found/i, 'unknown_id'],
  [/fully refunded already/i, 'already_refunded'],
  [/greater than (the refund payment amount|amount captured)/i, 'refund_exceeds_captured'],
  [/already been captured/i, 'already_captured'],
  [/not have enough balance/i, 'insufficient_balance'],
  [/idempotency/i, 'idempotency_key_reused'],
];

/** About the payment or the balance, and no mistake of ours. */
const NOT_OUR_FAULT: readonly string[] = [
  'already_refunded',
  'already_captured',
  'refund_exceeds_captured',
  'insufficient_balance',
];

/** Something behind Razorpay failed while it worked, whatever the HTTP status says. */
const UNCERTAIN: readonly string[] = ['GATEWAY_ERROR', 'SERVER_ERROR'];

export interface RazorpayApi {
  /** The answer, or null where Razorpay does not know the id. Throws `temporary` and nothing else. */
  get(path: string): Promise<unknown>;
  /** Throws `rejected`, `temporary` or `unknown`. */
  post(path: string, body: object, headers: Readonly<Record<string, string>>): Promise<unknown>;
}

/** Razorpay's REST API: `{error: {code, description, …}}` as the one error that an adapter throws. */
export function createRazorpayApi(config: SourceConfig, timeoutMs: number): RazorpayApi {
  /** One call has one client, which keeps what a refusal said. */
  async function call(ask: (http: JsonHttp) => Promise<unknown>): Promise<unknown> {
    let description = '';
    const http = createJsonHttp({
      source: config.name,
      baseUrl: (config.apiBase ?? PUBLIC_API).replace(/\/+$/, '').replace(/\/v1$/, ''),
      headers: {
        authorization: `Basic ${Buffer.from(config.apiKey).toString('base64')}`,
        accept: 'application/json',
      },
      timeoutMs,
      parse: parseExactJson,
      codeOf: (answer) => {
        const error = objectIn(answer, 'error');
        if (typeof error['description'] === 'string') description = error['description'].slice(0, 300);
        return REASONS.find(([pattern]) => pattern.test(description))?.[1] ?? error['code'];
      },
    });
    try {
      return await ask(http);
    } catch (error) {
      throw error instanceof GatewayError ? described(error, description) : error;
    }
  }

  return {
    async get(path) {
      try {
        return await call((http) => http.get(path));
      } catch (error) {
        if (error instanceof GatewayError && error.code === 'unknown_id') return null;
        throw error;
      }
    },
    post: (path, body, headers) => call((http) => http.post(path, body, headers)),
  };
}

function described(error: GatewayError, description: string): GatewayError {
  const { kind, code, retryAfterMs, cause } = error;
  const message = description === '' ? error.message : `${error.message} It said: ${description}`;
  if (kind !== 'rejected') return new GatewayError(message, { kind, code, retryAfterMs, cause });
  // Its refusals are 400; the 409 among the others says that the first request under this key is still at work, and what
  // that one does is what counts.
  if (!error.ourFault) return new GatewayError(message, { kind: 'unknown', code: 'request_in_progress', cause });
  if (UNCERTAIN.includes(code)) return new GatewayError(message, { kind: 'unknown', code, cause });
  return new GatewayError(message, { kind, code, ourFault: !NOT_OUR_FAULT.includes(code), cause });
}
