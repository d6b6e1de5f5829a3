import { z } from 'zod';
import { ANNOUNCEMENT_TYPES, EVERY_TYPE, isAnnouncementType } from '../../domain/announcement-types.ts';
import { page, text, time } from './common.ts';

const TYPES = [...Object.keys(ANNOUNCEMENT_TYPES), EVERY_TYPE];
const UNKNOWN_TYPE = `must be one of ${TYPES.join(', ')}`;

const url = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .max(2_000, { error: 'must have at most 2000 characters' })
  .meta({
    format: 'uri',
    description: 'Where webhooks are sent to. A public address, unless the operator allows its network.',
  });

const eventTypes = z
  .array(
    z
      .string({ error: UNKNOWN_TYPE })
      .refine((type) => type === EVERY_TYPE || isAnnouncementType(type), { error: UNKNOWN_TYPE })
      .meta({ enum: TYPES }),
    { error: 'must be a list of event types' },
  )
  .min(1, { error: `must name an event type; ${EVERY_TYPE} stands for all of them` })
  .max(100, { error: 'must name at most 100 event types' })
  .describe('`*` stands for all types, those to come included.');

export const newEndpoint = z.strictObject({ url, event_types: eventTypes }).meta({ id: 'NewEndpoint' });

export const endpointChange = z
  .strictObject({
    url: url.nullish(),
    event_types: eventTypes.nullish(),
    disabled: z
      .boolean({ error: 'must be true or false' })
      .nullish()
      .describe('While it is disabled nothing is sent; what it misses is kept as skipped, and can be resent.'),
  })
  .meta({ id: 'EndpointChange' });

export const endpoint = z
  .strictObject({
    id: z.string(),
    url: z.string(),
    event_types: z.array(z.string()),
    disabled: z.boolean(),
    created_by: z.string().describe('The API client that registered it.'),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Endpoint' });

const secret = z.string().describe('Signs its webhooks (Standard Webhooks). Shown in this answer only.');

export const endpointWithSecret = endpoint.extend({ secret }).meta({ id: 'EndpointWithSecret' });

export const testResult = z
  .strictObject({
    delivered: z.boolean().describe('Whether it was answered 2xx.'),
    webhook_id: z.string(),
    status: z.int().nullable().describe('What the receiver answered; null where no answer came.'),
    body: z.string().nullable().describe('The beginning of its answer.'),
    error: z.string().nullable().describe('Why no answer came.'),
  })
  .meta({ id: 'EndpointTest' });

const STATUSES = ['in_progress', 'done', 'skipped', 'dead'] as const;

export const deliveryFilter = page.extend({
  status: z.enum(STATUSES, { error: `must be one of ${STATUSES.join(', ')}` }).optional(),
});

export const delivery = z
  .strictObject({
    n: z.int().describe('Names the delivery.'),
    event_id: z.string().describe('The webhook-id of all its tries.'),
    event_type: z.string(),
    status: z.enum(STATUSES).describe('in_progress: tried, or waiting for its next try. dead: a person is asked.'),
    attempts: z.int(),
    last_status: z.int().nullable().describe('What the receiver answered last.'),
    last_error: z.string().nullable(),
    created_at: time,
    first_attempt_at: time.nullable(),
    last_attempt_at: time.nullable(),
    done_at: time.nullable(),
  })
  .meta({ id: 'Delivery' });

export const deliveryNumber = text(18).regex(/^[1-9]\d*$/, { error: 'must be a whole number' });
