import { randomUUID } from 'node:crypto';
import { readEndpoint } from '../../database/endpoints.ts';
import { readEndpointTarget } from '../../database/endpoint-secrets.ts';
import { listDeliveries as list } from '../../database/list-deliveries.ts';
import { resendDelivery as resend } from '../../database/resend-delivery.ts';
import { isStorableText } from '../../domain/cleaned-text.ts';
import { jsonText } from '../../domain/json-text.ts';
import { Problem } from '../../domain/problem.ts';
import { decodeCursor, encodeCursor } from '../cursor.ts';
import { defineRoute, json } from '../route.ts';
import { DEFAULT_LIMIT, listOf } from '../schemas/common.ts';
import { delivery, deliveryFilter, deliveryNumber, testResult } from '../schemas/endpoints.ts';
import { known } from './endpoints.ts';

const SCOPE = 'ops:write';
const CURSOR = [/^\d{1,18}$/];

export const testEndpoint = defineRoute({
  method: 'POST',
  path: '/v1/endpoints/{id}/test',
  scope: SCOPE,
  summary: 'Send a signed `endpoint.test` event now, once, and tell what the receiver said.',
  answers: {
    200: { description: 'What came of it; a refusal of the receiver is an answer, too.', schema: testResult },
  },
  problems: ['not_found'],
  async handle(deps, { params: { id } }) {
    const target = known(isStorableText(id) ? await readEndpointTarget(deps.pool, id) : null);
    const webhookId = `test:${randomUUID()}`;
    const timestamp = new Date(deps.now()).toISOString();
    const body = jsonText({ id: webhookId, type: 'endpoint.test', timestamp, aggregate_version: 0, data: {} });
    const told = await deps.outgoing.sendOnce(target, { id: webhookId, body });
    const delivered = told.status !== null && told.status >= 200 && told.status <= 299;
    return json(200, { delivered, webhook_id: webhookId, ...told });
  },
});

export const listDeliveries = defineRoute({
  method: 'GET',
  path: '/v1/endpoints/{id}/deliveries',
  scope: SCOPE,
  summary: 'What was sent to an endpoint, or is to be sent, newest first.',
  query: deliveryFilter,
  answers: { 200: { description: 'A page of deliveries.', schema: listOf(delivery) } },
  problems: ['not_found'],
  async handle(deps, { params: { id }, query }) {
    known(isStorableText(id) ? await readEndpoint(deps.pool, id) : null);
    const [before = null] = query.cursor === undefined ? [] : decodeCursor(query.cursor, CURSOR);
    const limit = query.limit ?? DEFAULT_LIMIT;
    const { deliveries, next } = await list(deps.pool, { endpointId: id, status: query.status ?? null, before, limit });
    return json(200, { data: deliveries, next_cursor: next === null ? null : encodeCursor([next]) });
  },
});

export const resendDelivery = defineRoute({
  method: 'POST',
  path: '/v1/endpoints/{id}/deliveries/{n}/resend',
  scope: SCOPE,
  summary: 'Send an event again that was skipped, given up or delivered; under the same webhook-id.',
  answers: { 202: { description: 'The delivery; it is tried in a moment.', schema: delivery } },
  problems: ['not_found', 'delivery_not_resendable'],
  async handle(deps, { params: { id, n } }) {
    const named = isStorableText(id) && deliveryNumber.safeParse(n).success;
    const resent = named ? await resend(deps.pool, id, n) : { result: 'not_found' as const };
    switch (resent.result) {
      case 'not_found':
        throw new Problem('not_found', 'This endpoint has no delivery of this number.');
      case 'not_possible':
        throw new Problem('delivery_not_resendable', resent.reason);
      case 'resent':
    }
    deps.wakeRelays();
    return json(202, resent.delivery);
  },
});
