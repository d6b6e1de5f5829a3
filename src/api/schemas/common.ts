import { z } from 'zod';
import { isUsableId } from '../../domain/admit-event.ts';

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

/** Minor units, from a request. */
export const positiveAmount = z.int({ error: 'must be a whole number of minor units, at least 1' }).min(1, {
  error: 'must be at least 1',
});

/** Minor units, in an answer. */
export const amount = z.int().describe('Minor units.');

export const currency = z
  .string({ error: 'must be an ISO 4217 code in upper case' })
  .refine((code) => CURRENCIES.has(code), { error: 'must be an ISO 4217 code in upper case' })
  .meta({ pattern: '^[A-Z]{3}$', description: 'ISO 4217.', examples: ['EUR'] });

/** An id of a payment or an order: it goes into workflow ids and addresses. */
export const visibleId = z
  .string({ error: 'must be text' })
  .refine(isUsableId, { error: 'must be 1 to 200 visible ASCII characters' })
  .meta({ pattern: '^[\\x21-\\x7e]{1,200}$' });

/** A short text of somebody's. */
export function text(most: number) {
  const error = `must be text of 1 to ${most} characters`;
  return z.string({ error }).min(1, { error }).max(most, { error });
}

/** A moment with its zone; answers a Date. */
export const moment = z.iso
  .datetime({ offset: true, error: 'must be a moment with its zone, such as 2026-12-01T12:00:00Z' })
  .transform((value) => new Date(value))
  .meta({ pattern: undefined });

/** A moment in an answer. */
export const time = z.string().meta({ format: 'date-time' });

/** The query of every list. More than 200 is taken as 200. */
export const page = z.strictObject({
  limit: z
    .string()
    .regex(/^[1-9]\d{0,5}$/, { error: 'must be a whole number from 1 to 200' })
    .transform((digits) => Math.min(Number(digits), 200))
    .optional()
    .meta({ description: 'Entries in a page: 50, at most 200.' }),
  cursor: z.string().min(1).max(4096).optional().meta({ description: 'The next_cursor of the page before.' }),
});

export const DEFAULT_LIMIT = 50;

export function listOf(entry: z.ZodType) {
  return z.strictObject({
    data: z.array(entry),
    next_cursor: z.string().nullable().describe('Null on the last page.'),
  });
}
