import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { Problem, type RequestMistake } from '../domain/problem.ts';
import { authenticate } from './authenticate.ts';
import type { ApiDeps } from './deps.ts';
import { validated } from './mistakes.ts';
import { newRequestId } from './new-request-id.ts';
import { parseJsonBody } from './parse-json-body.ts';
import { type HttpAnswer, problemResponse } from './problem-response.ts';
import { readBody, RequestAborted } from './read-body.ts';
import type { Route } from './route.ts';
import { toProblem } from './to-problem.ts';

/** The largest order we take, some hundred lines, is far below. */
const MOST_BODY_BYTES = 1024 * 1024;
/** As Stripe's and the IETF draft's clients send them; a btree's entry has room for it beside its scope. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

/** Checks a request in the contract's order (who, may it, its key, its form), runs its handler and answers. */
export async function serveRoute(
  deps: ApiDeps,
  route: Route,
  params: Readonly<Record<string, string>>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const requestId = newRequestId();
  const began = performance.now();
  let client = '';
  let answer: HttpAnswer;
  try {
    if (route.scope !== null) {
      client = (await authenticate(deps.pool, request.headers.authorization, route.scope)).name;
    }
    answer = await route.handle(deps, {
      params,
      client,
      idempotencyKey: route.keyed ? idempotencyKeyOf(request) : '',
      ...(await inputOf(route, request)),
    });
  } catch (error) {
    if (error instanceof RequestAborted) return;
    answer = problemResponse(problemOf(deps, error, requestId), requestId);
  }
  const ms = Math.round(performance.now() - began);
  const line = { request_id: requestId, method: route.method, path: route.path, status: answer.status, client, ms };
  deps.log[answer.status >= 500 ? 'warn' : 'info'](line, 'request');
  send(response, answer, requestId);
}

/** Writes an answer. */
export function send(response: ServerResponse, { status, headers, body }: HttpAnswer, requestId: string): void {
  response.writeHead(status, { ...headers, 'x-request-id': requestId, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** The refusal that an error amounts to; one that nobody foresaw is logged with its stack and told without. */
export function problemOf(deps: Pick<ApiDeps, 'log'>, error: unknown, requestId: string): Problem {
  const problem = toProblem(error);
  if (problem !== null) return problem;
  deps.log.error({ err: error, request_id: requestId }, 'request failed');
  return new Problem('internal_error', 'It is logged under the request_id; the same request may be sent again.');
}

function idempotencyKeyOf(request: IncomingMessage): string {
  const key = request.headers['idempotency-key'];
  if (key === undefined)
    throw new Problem('idempotency_key_required', 'Send a fresh Idempotency-Key for each new action.');
  if (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key)) {
    throw new Problem('idempotency_key_invalid', 'An Idempotency-Key is 1 to 255 visible ASCII characters.');
  }
  return key;
}

async function inputOf(
  route: Route,
  request: IncomingMessage,
): Promise<{ query: unknown; body: unknown; sent: unknown }> {
  const query = route.query === null ? null : queryOf(route.query, request);
  if (route.body === null) return { query, body: null, sent: null };
  const { value, mistakes } = parseJsonBody(
    await readBody(request, request.headers['content-encoding'], MOST_BODY_BYTES),
  );
  const further = route.check?.(value) ?? [];
  return { query, body: validated(route.body, value, [...mistakes, ...further]), sent: value };
}

function queryOf(schema: z.ZodType, request: IncomingMessage): unknown {
  const { searchParams } = new URL(request.url ?? '', 'http://localhost');
  const repeated: RequestMistake[] = [...new Set(searchParams.keys())]
    .filter((name) => searchParams.getAll(name).length > 1)
    .map((name) => ({ path: name, message: 'may be given once' }));
  return validated(schema, Object.fromEntries(searchParams), repeated);
}
