import type { EventReading } from '../../domain/event-reading.ts';
import { NOTHING_READ, isJsonObject, objectIn, parseEventBody, readEventType, type JsonObject } from '../event-body.ts';
import { readId, readTime } from '../fields.ts';
import { readRawFacts } from '../raw-facts.ts';
import { STRIPE_CURRENCIES } from './currencies.ts';
import { EVENT_KINDS, type EventKind } from './event-kinds.ts';

/** Longer ids are kept under a hash by the store; what is no visible ASCII is no id of Stripe's. */
const EVENT_ID = /^[\x21-\x7e]+$/;

/** What a verified Stripe event says, whatever its API version. Never throws: what is not understood is held (A7). */
export function readStripeEvent(body: Uint8Array): EventReading {
  const parsed = parseEventBody(body);
  if ('problem' in parsed) return { ...NOTHING_READ, reason: parsed.problem };
  const { event } = parsed;
  const livemode = event['livemode'];
  const known: EventReading = {
    ...NOTHING_READ,
    eventId: readEventId(event['id']) ?? null,
    mode: typeof livemode === 'boolean' ? (livemode ? 'live' : 'test') : null,
    occurredAt: readTime(event['created']) ?? null,
  };

  const type = readEventType(event['type']);
  if (type === null) return { ...known, reason: 'The event has no type that can be read.' };
  const typed: EventReading = { ...known, eventType: type };
  // Thin events carry today's names with the API's version before them.
  const kind = EVENT_KINDS.get(type.replace(/^v1\./, ''));
  if (kind === undefined) return { ...typed, verdict: 'ignore', reason: `Events of type ${type} mean nothing here.` };
  const about: EventReading = { ...typed, subject: kind.subject };

  if (readEventId(event['id']) === undefined) return { ...about, reason: 'The id of the event is not visible ASCII.' };
  if (isConnected(event)) {
    return { ...about, reason: 'The event belongs to a connected account, whose payments this source cannot look at.' };
  }
  if (event['object'] === 'v2.core.event') return { ...about, ...readThin(kind, objectIn(event, 'related_object')) };
  const object = objectIn(event, 'data')['object'];
  if (!isJsonObject(object)) return { ...about, reason: 'The event carries no object.' };
  const facts = kind.read(object);
  if ('ignore' in facts) return { ...about, verdict: 'ignore', reason: facts.ignore };
  return { ...about, ...readRawFacts(kind.subject, facts, STRIPE_CURRENCIES) };
}

function readEventId(value: unknown): string | null | undefined {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' && EVENT_ID.test(value) ? value : undefined;
}

/** `account` in a snapshot event, `context` in a thin one: the event is about somebody else's books. */
function isConnected(event: JsonObject): boolean {
  return [event['account'], event['context']].some((account) => account !== undefined && account !== null);
}

/** A thin event names the thing that changed and nothing else, so it claims nothing. */
function readThin(kind: EventKind, related: JsonObject): Partial<EventReading> {
  const id = readId(related['id']) ?? null;
  if (kind.thinObject === null || related['type'] !== kind.thinObject || id === null) {
    return { reason: 'The event names only a thing whose payment it does not tell.' };
  }
  const paymentId = kind.thinObject === 'payment_intent' ? id : null;
  return { verdict: 'take', objectId: id, paymentId };
}
