import { randomBytes } from 'node:crypto';
import { changeEndpoint as change, createEndpoint as create } from '../../database/endpoints.ts';
import { listEndpoints as list, readEndpoint } from '../../database/endpoints.ts';
import { rotateEndpointSecret } from '../../database/endpoint-secrets.ts';
import { isStorableText } from '../../domain/cleaned-text.ts';
import { Problem } from '../../domain/problem.ts';
import { decodeCursor, encodeCursor } from '../cursor.ts';
import type { ApiDeps } from '../deps.ts';
import { defineRoute, json } from '../route.ts';
import { DEFAULT_LIMIT, listOf, page } from '../schemas/common.ts';
import { endpoint, endpointChange, endpointWithSecret, newEndpoint } from '../schemas/endpoints.ts';

const SCOPE = 'ops:write';
/** Microseconds, an endpoint's id. */
const CURSOR = [/^\d{1,18}$/, /^[\w-]{1,100}$/];
/** As long as the key of the hash that signs with it. */
const SECRET_BYTES = 32;

export const createEndpoint = defineRoute({
  method: 'POST',
  path: '/v1/endpoints',
  scope: SCOPE,
  summary: 'Register an address that is sent signed webhooks of what happens from now on.',
  body: newEndpoint,
  answers: { 201: { description: 'The endpoint, with its secret.', schema: endpointWithSecret } },
  problems: ['address_not_allowed'],
  async handle(deps, { body: { url, event_types }, client }) {
    await refuseBadAddress(deps, url);
    const secret = newSecret();
    const id = `ep_${randomBytes(12).toString('hex')}`;
    const made = await create(deps.pool, { id, url, event_types, secret, created_by: client });
    return json(201, { ...made, secret }, { location: `/v1/endpoints/${id}` });
  },
});

export const listEndpoints = defineRoute({
  method: 'GET',
  path: '/v1/endpoints',
  scope: SCOPE,
  summary: 'The registered endpoints, oldest first.',
  query: page,
  answers: { 200: { description: 'A page of endpoints.', schema: listOf(endpoint) } },
  async handle(deps, { query }) {
    const [createdAt = '', id = ''] = query.cursor === undefined ? [] : decodeCursor(query.cursor, CURSOR);
    const after = query.cursor === undefined ? null : { createdAt, id };
    const { endpoints, next } = await list(deps.pool, { limit: query.limit ?? DEFAULT_LIMIT, after });
    return json(200, { data: endpoints, next_cursor: next === null ? null : encodeCursor([next.createdAt, next.id]) });
  },
});

export const getEndpoint = defineRoute({
  method: 'GET',
  path: '/v1/endpoints/{id}',
  scope: SCOPE,
  summary: 'An endpoint, without its secret.',
  answers: { 200: { description: 'The endpoint.', schema: endpoint } },
  problems: ['not_found'],
  async handle(deps, { params: { id } }) {
    return json(200, known(isStorableText(id) ? await readEndpoint(deps.pool, id) : null));
  },
});

export const changeEndpoint = defineRoute({
  method: 'PATCH',
  path: '/v1/endpoints/{id}',
  scope: SCOPE,
  summary: 'Change what is given; it holds from the next try on, of older events too.',
  body: endpointChange,
  answers: { 200: { description: 'The endpoint.', schema: endpoint } },
  problems: ['not_found', 'address_not_allowed'],
  async handle(deps, { params: { id }, body }) {
    known(isStorableText(id) ? await readEndpoint(deps.pool, id) : null);
    if (body.url != null) await refuseBadAddress(deps, body.url);
    const { url = null, event_types: eventTypes = null, disabled = null } = body;
    return json(200, known(await change(deps.pool, id, { url, eventTypes, disabled })));
  },
});

export const rotateSecret = defineRoute({
  method: 'POST',
  path: '/v1/endpoints/{id}/rotate-secret',
  scope: SCOPE,
  summary: 'Give an endpoint a new secret; webhooks are signed with the old one as well for 24 hours.',
  answers: { 200: { description: 'The endpoint, with its new secret.', schema: endpointWithSecret } },
  problems: ['not_found'],
  async handle(deps, { params: { id } }) {
    const found = known(isStorableText(id) ? await readEndpoint(deps.pool, id) : null);
    const secret = newSecret();
    await rotateEndpointSecret(deps.pool, id, secret);
    return json(200, { ...found, secret });
  },
});

/** Refuses an address that must not be called; it is looked at again in every try. */
async function refuseBadAddress(deps: ApiDeps, url: string): Promise<void> {
  const refusal = await deps.outgoing.refusalOf(url);
  if (refusal !== null) throw new Problem('address_not_allowed', refusal);
}

export function known<T>(found: T | null): T {
  if (found === null) throw new Problem('not_found', 'There is no endpoint of this id.');
  return found;
}

/** As Standard Webhooks writes it. */
function newSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}
