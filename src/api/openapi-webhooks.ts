import { ANNOUNCEMENT_TYPES, type AnnouncedFieldKind, type AnnouncementType } from '../domain/announcement-types.ts';
import type { JsonObject } from './openapi-schemas.ts';

const FIELD: Readonly<Record<AnnouncedFieldKind, JsonObject>> = {
  id: { type: 'string' },
  text: { type: 'string' },
  number: { type: 'integer' },
  amount: { type: 'integer', description: 'Minor units.' },
  currency: { type: 'string', pattern: '^[A-Z]{3}$', description: 'ISO 4217.' },
};

/** What is sent to endpoints, made from the table that makes it. */
export function openApiWebhooks(): JsonObject {
  const types: Readonly<Record<string, AnnouncementType>> = {
    ...ANNOUNCEMENT_TYPES,
    'endpoint.test': { means: 'Somebody asked for a test of the endpoint.', data: {} },
  };
  return Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { post: operation(name, type) }]));
}

function operation(name: string, { means, data }: AnnouncementType): JsonObject {
  const properties = Object.fromEntries(Object.entries(data).map(([field, kind]) => [field, FIELD[kind]]));
  const schema = {
    type: 'object',
    required: ['id', 'type', 'timestamp', 'aggregate_version', 'data'],
    properties: {
      id: { type: 'string', description: 'The webhook-id: the same in every try.' },
      type: { const: name },
      timestamp: { type: 'string', format: 'date-time', description: 'When it became true.' },
      aggregate_version: { type: 'integer', description: 'Grows with each event about the same order or payout.' },
      data: { type: 'object', properties },
    },
  };
  const header = (header: string, description: string) => ({
    ...{ name: header, in: 'header', required: true, description, schema: { type: 'string' } },
  });
  return {
    summary: means,
    parameters: [
      header('webhook-id', 'The same for every try and every endpoint: dedupe by it.'),
      header('webhook-timestamp', 'When this try was made, in seconds since the epoch.'),
      header('webhook-signature', 'Standard Webhooks: `v1,<base64>`, one for each secret that holds.'),
    ],
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: {
      '2XX': { description: 'Taken: it is not sent again.' },
      '410': { description: 'It is never wanted: a person is asked at once.' },
      default: { description: 'It is sent again, no earlier than Retry-After says.' },
    },
  };
}
