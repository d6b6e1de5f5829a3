import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { isKeyOfAnother } from '../database/idempotency.ts';
import { Problem, type RequestMistake } from '../domain/problem.ts';
import { authenticate } from './authenticate.ts';
import type { ApiDeps } from './deps.ts';
import { validated } from './mistakes.ts';
import { newRequestId } from './new-request-id.ts';
import { type JsonBody, parseJsonBody } from './parse-json-body.ts';
import { type HttpAnswer, problemResponse } from './problem-response.ts';
import { readBody, RequestAborted } from './read-body.ts';
import type { Route } from './route.ts';
import { type KeyedCall, keyedRequest, keyReused } from './run-idempotent.ts';
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
  let call: KeyedCall | null = null;
  let answer: HttpAnswer;
  try {
    if (route.scope !== null) {
      client = (await authenticate(deps.pool, request.headers.authorization, route.scope)).name;
    }
    const idempotencyKey = route.keyed ? idempotencyKeyOf(request) : '';
    const query = route.query === null ? null : queryOf(route.query, request);
    const { value: sent, mistakes } = await bodyOf(route, request);
    const { method } = route;
    if (route.keyed) call = { client, method, path: concretePath(route.path, params), key: idempotencyKey, sent };
    const body =
      route.body === null ? null : validated(route.body, sent, [...mistakes, ...(route.check?.(sent) ?? [])]);
    answer = await route.handle(deps, {
      params,
      rawParams: rawParams(route.path, request.url),
      client,
      idempotencyKey,
      query,
      body,
      sent,
    });
  } catch (error) {
    if (error instanceof RequestAborted) return;
    answer = problemResponse(await refusal(deps, call, problemOf(deps, error, requestId)), requestId);
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

/**
 * What a refusal under a key is told as: where the key is another request's, that is what its sender has to know first, whatever
 * else is wrong with this one (E2).
 */
async function refusal(deps: ApiDeps, call: KeyedCall | null, problem: Problem): Promise<Problem> {
  if (call === null || problem.status >= 500 || problem.code === 'idempotency_key_reused') return problem;
  // Whoever cannot be asked now is told what is known.
  const reused = await isKeyOfAnother(deps.pool, keyedRequest(call)).catch(() => false);
  return reused ? keyReused() : problem;
}

/** A route's path with the values in it, spelt in one way however the client spelt them. */
function concretePath(path: string, params: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_part, name: string) => encodeURIComponent(params[name] ?? ''));
}

/** The parts of an address that a route's path names, as they were sent. */
function rawParams(path: string, url = ''): Readonly<Record<string, string>> {
  const parts = (url.split('?')[0] ?? '').split('/');
  const named = path.split('/').map((part, at): [string, string] => [part.slice(1, -1), parts[at] ?? '']);
  return Object.fromEntries(named.filter((_, at) => path.split('/')[at]?.startsWith('{')));
}

async function bodyOf(route: Route, request: IncomingMessage): Promise<JsonBody> {
  if (route.body === null) return { value: null, mistakes: [] };
  return parseJsonBody(await readBody(request, request.headers['content-encoding'], MOST_BODY_BYTES));
}

function queryOf(schema: z.ZodType, request: IncomingMessage): unknown {
  const { searchParams } = new URL(request.url ?? '', 'http://localhost');
  const repeated: RequestMistake[] = [...new Set(searchParams.keys())]
    .filter((name) => searchParams.getAll(name).length > 1)
    .map((name) => ({ path: name, message: 'may be given once' }));
  return validated(schema, Object.fromEntries(searchParams), repeated);
}
