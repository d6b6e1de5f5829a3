import type { EventReading } from '../domain/event-reading.ts';
import { parseExactJson } from './exact-json.ts';

/** A parsed JSON object; nothing about its fields is known. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A type has to fit a column and a label of the metrics: 1–100 visible ASCII characters. */
const TYPE = /^[\x21-\x7e]{1,100}$/;

/** A reading of an event about which nothing is known yet. */
export const NOTHING_READ: EventReading = {
  verdict: 'hold',
  reason: null,
  eventId: null,
  eventType: 'unreadable',
  subject: null,
  objectId: null,
  paymentId: null,
  orderId: null,
  claimed: null,
  amount: null,
  currency: null,
  fee: null,
  withheld: null,
  mode: null,
  occurredAt: null,
  reference: null,
};

/**
 * A webhook's body as a JSON object, with numbers that JavaScript would round kept as text (`parseExactJson`); or a
 * sentence on why it is none. Never throws.
 */
export function parseEventBody(body: Uint8Array): { readonly event: JsonObject } | { readonly problem: string } {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return { problem: 'The body is not UTF-8 text: it holds a byte that belongs to no character.' };
  }
  if (text.startsWith('\ufeff')) {
    return { problem: 'The body begins with a byte order mark, which JSON does not allow.' };
  }
  try {
    const value = parseExactJson(text);
    return isJsonObject(value) ? { event: value } : { problem: 'The body is JSON, but not an object.' };
  } catch (error) {
    const tooDeep = error instanceof RangeError;
    return { problem: tooDeep ? 'The body is nested too deeply to be an event.' : 'The body is not JSON.' };
  }
}

/** The event's type, if it is one that can be stored and shown. */
export function readEventType(value: unknown): string | null {
  return typeof value === 'string' && TYPE.test(value) ? value : null;
}

/** The object in a field; an empty one where there is none, so that a chain of fields can be asked for. */
export function objectIn(parent: unknown, field: string): JsonObject {
  const value = isJsonObject(parent) ? parent[field] : undefined;
  return isJsonObject(value) ? value : {};
}

/** An object of little more than its id: it says that something changed, not what. */
export function isBare(object: JsonObject): boolean {
  return object['status'] === undefined && object['amount'] === undefined;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
