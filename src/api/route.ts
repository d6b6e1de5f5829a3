import type { z } from 'zod';
import type { ApiScope } from '../database/rotate-api-key.ts';
import { jsonText } from '../domain/json-text.ts';
import type { ProblemCode, RequestMistake } from '../domain/problem.ts';
import type { ApiDeps } from './deps.ts';
import type { HttpAnswer } from './problem-response.ts';

/** `{name}` parts of a path, by their names. */
export type PathParams<P extends string> = P extends `${string}{${infer N}}${infer Rest}`
  ? { readonly [K in N | keyof PathParams<Rest>]: string }
  : Record<never, string>;

/** A request as its handler sees it: who, what, already checked. */
export interface RouteRequest<P extends string, Q, B> {
  readonly params: PathParams<P>;
  /** As they stand in the address, not decoded: ids of ours may hold a `%`, and are found as they are printed, too. */
  readonly rawParams: PathParams<P>;
  readonly query: Q;
  readonly body: B;
  /** The body's JSON as it was sent: what an Idempotency-Key binds. */
  readonly sent: unknown;
  /** The API client's name; empty on routes without a scope. */
  readonly client: string;
  /** Checked where the route needs one, else empty. */
  readonly idempotencyKey: string;
}

/**
 * One route as data: what serves it and what documents it are the same thing, so that the document cannot be stale.
 */
export interface Route<P extends string = string, Q extends z.ZodType = z.ZodType, B extends z.ZodType = z.ZodType> {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** As OpenAPI writes it: `/v1/orders/{order_id}`. */
  readonly path: P;
  /** What the API key must allow; null: open to everyone. */
  readonly scope: ApiScope | null;
  readonly summary: string;
  /** Whether an Idempotency-Key is required. */
  readonly keyed: boolean;
  readonly query: Q | null;
  readonly body: B | null;
  /** What the body's schema cannot say; found beside its mistakes, whatever they are. */
  readonly check: ((body: unknown) => RequestMistake[]) | null;
  /** By status; null schema: not JSON. */
  readonly answers: Readonly<Record<number, { readonly description: string; readonly schema: z.ZodType | null }>>;
  /** Refusals beyond those that follow from the rest of this. */
  readonly problems: readonly ProblemCode[];
  readonly handle: (
    deps: ApiDeps,
    request: RouteRequest<P, z.output<Q>, z.output<B>>,
  ) => Promise<HttpAnswer> | HttpAnswer;
}

type RouteDefinition<P extends string, Q extends z.ZodType, B extends z.ZodType> = Pick<
  Route<P, Q, B>,
  'method' | 'path' | 'scope' | 'summary' | 'answers' | 'handle'
> &
  Partial<Route<P, Q, B>>;

/** A route with the usual left out: no query, no body, no key, no refusals of its own. */
export function defineRoute<P extends string, Q extends z.ZodType, B extends z.ZodType>(
  definition: RouteDefinition<P, Q, B>,
): Route {
  const route = { keyed: false, query: null, body: null, check: null, problems: [], ...definition };
  // Handlers differ in what they are given; whoever calls one has checked it against the same route's schemas.
  return route as unknown as Route;
}

/** An answer in JSON. */
export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): HttpAnswer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: jsonText(value) };
}
