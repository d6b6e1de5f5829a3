import { z } from 'zod';
import { ANNOUNCEMENT_TYPES, EVERY_TYPE } from '../domain/announcement-types.ts';
import { oneOf, text, url } from './settings.ts';

const TYPES = Object.keys(ANNOUNCEMENT_TYPES);

/** What a header may be called and hold, so that a mistake is seen at the start and not at the first event. */
const headers = z.record(
  z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/),
  z.string({ error: 'must be text' }).regex(/^[\x20-\x7e]*$/, { error: 'must be visible ASCII characters' }),
  { error: 'must be names of headers with their values' },
);

const sink = z.strictObject(
  {
    name: z
      .string({ error: 'is missing; give the sink a name' })
      .regex(/^[a-z0-9-]{1,32}$/, { error: 'must be 1 to 32 of a-z, 0-9 and "-"' }),
    url: url(['http', 'https'], 'https://crm.example/events'),
    event_types: z
      .array(oneOf([EVERY_TYPE, ...TYPES]), { error: 'is missing; give a list such as [order.paid]' })
      .min(1, { error: 'is empty; give a list such as [order.paid]' }),
    secret: text('the bearer token').nullish(),
    headers: headers.nullish(),
  },
  { error: 'must be {name: …, url: …, event_types: […]}' },
);

/** Services of the operator's own that are told of events. A sink's name is part of what was told to whom. */
export const sinksSchema = z
  .array(sink, { error: 'must be a list' })
  .superRefine((sinks, context) => {
    for (const [index, { name }] of sinks.entries()) {
      if (sinks.findIndex((other) => other.name === name) === index) continue;
      const message = `${name} is taken by another sink; give each its own name`;
      context.addIssue({ code: 'custom', path: [index, 'name'], message });
    }
  })
  .transform((sinks) =>
    sinks.map((one) => ({
      ...{ name: one.name, url: one.url, types: one.event_types.includes(EVERY_TYPE) ? TYPES : one.event_types },
      ...{ secret: one.secret ?? null, headers: one.headers ?? {} },
    })),
  );
