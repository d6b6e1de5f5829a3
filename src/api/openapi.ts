import { z } from 'zod';
import { PROBLEMS, type ProblemCode } from '../domain/problem.ts';
import { type JsonObject, OpenApiSchemas } from './openapi-schemas.ts';
import { openApiWebhooks } from './openapi-webhooks.ts';
import type { Route } from './route.ts';

const receipt = z
  .strictObject({ received: z.literal(true), duplicate: z.boolean(), event_id: z.string() })
  .meta({ id: 'Receipt' });

const problem = z
  .strictObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.enum(Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]]),
    request_id: z.string(),
    errors: z
      .array(z.strictObject({ path: z.string(), message: z.string() }))
      .optional()
      .describe('Every mistake at once.'),
  })
  .meta({ id: 'Problem' });

/**
 * The OpenAPI document, made from the routes themselves: their schemas check the requests, so that what is documented
 * is what is accepted.
 */
export function openApiDocument(routes: readonly Route[]): JsonObject {
  const schemas = new OpenApiSchemas();
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route, schemas) };
  }
  paths['/webhooks/{source}'] = { post: webhookOperation(schemas) };
  return {
    openapi: '3.1.0',
    info: {
      title: 'paidonce',
      version: '1',
      description:
        'Payment webhooks arrive at least once; the money and its consequences happen exactly once. ' +
        'Amounts are integers in minor units, beside their ISO 4217 code.',
    },
    paths,
    webhooks: openApiWebhooks(),
    components: {
      schemas: schemas.named,
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key; it belongs to a client and has scopes.' },
      },
    },
  };
}

function operation(route: Route, schemas: OpenApiSchemas): JsonObject {
  const parameters = [...pathParameters(route.path), ...queryParameters(route, schemas)];
  if (route.keyed) {
    parameters.push({
      name: 'Idempotency-Key',
      in: 'header',
      required: true,
      description: 'The same key again answers the same, and does nothing more.',
      schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
    });
  }
  return {
    summary: route.summary,
    operationId: `${route.method.toLowerCase()}${route.path.replaceAll(/[^a-z]+/gi, '_')}`,
    ...(route.scope === null ? {} : { security: [{ apiKey: [] }], description: `Scope: ${route.scope}.` }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === null
      ? {}
      : {
          requestBody: { required: true, content: { 'application/json': { schema: schemas.of(route.body, 'input') } } },
        }),
    responses: { ...answers(route, schemas), ...refusals(problemsOf(route), schemas) },
  };
}

function pathParameters(path: string): JsonObject[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', minLength: 1 },
  }));
}

function queryParameters({ query }: Route, schemas: OpenApiSchemas): JsonObject[] {
  if (query === null) return [];
  const { properties, required } = schemas.of(query, 'input') as {
    properties: Record<string, JsonObject>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required?.includes(name) ?? false,
    schema,
  }));
}

function answers(route: Route, schemas: OpenApiSchemas): JsonObject {
  return Object.fromEntries(
    Object.entries(route.answers).map(([status, { description, schema }]) => [
      status,
      {
        description,
        ...(route.keyed
          ? {
              headers: {
                'Idempotent-Replayed': { schema: { type: 'string' }, description: '"true" on a stored answer.' },
              },
            }
          : {}),
        content:
          schema === null
            ? { 'text/plain': { schema: { type: 'string' } } }
            : { 'application/json': { schema: schemas.of(schema, 'output') } },
      },
    ]),
  );
}

/** What follows from how a route is made, and what it adds. */
function problemsOf(route: Route): ProblemCode[] {
  const codes = new Set<ProblemCode>(route.problems);
  const add = (when: boolean, ...more: ProblemCode[]): void => {
    if (when) more.forEach((code) => codes.add(code));
  };
  add(route.path.includes('{'), 'malformed_request');
  add(route.query !== null, 'validation_failed');
  add(route.body !== null, 'malformed_request', 'payload_too_large', 'unsupported_encoding', 'validation_failed');
  add(
    route.keyed,
    'idempotency_key_required',
    'idempotency_key_invalid',
    'idempotency_key_reused',
    'request_in_progress',
  );
  add(route.scope !== null, 'unauthenticated', 'insufficient_scope', 'unavailable');
  return [...codes];
}

function refusals(codes: readonly ProblemCode[], schemas: OpenApiSchemas): JsonObject {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of codes) {
    const { status } = PROBLEMS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, those]) => [
      status,
      {
        description: those.map((code) => `\`${code}\`: ${PROBLEMS[code].title}`).join(' '),
        content: { 'application/problem+json': { schema: schemas.of(problem, 'output') } },
      },
    ]),
  );
}

function webhookOperation(schemas: OpenApiSchemas): JsonObject {
  return {
    summary: 'Where a gateway sends its webhooks; answered once the delivery is durable.',
    operationId: 'post_webhooks_source',
    description: 'The signature over the raw bytes is the authentication. gzip, deflate and br are inflated first.',
    parameters: pathParameters('/webhooks/{source}'),
    requestBody: { required: true, content: { '*/*': { schema: {} } } },
    responses: {
      200: { description: 'Stored.', content: { 'application/json': { schema: schemas.of(receipt, 'output') } } },
      ...refusals(
        [
          'malformed_request',
          'invalid_signature',
          'unknown_source',
          'payload_too_large',
          'unsupported_encoding',
          'not_durable',
        ],
        schemas,
      ),
    },
  };
}
