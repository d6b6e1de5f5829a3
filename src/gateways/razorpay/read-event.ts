import type { EventReading } from '../../domain/event-reading.ts';
import { NOTHING_READ, objectIn, parseEventBody, readEventType } from '../event-body.ts';
import { readTime } from '../fields.ts';
import type { WebhookHeaders } from '../gateway.ts';
import { readRawFacts } from '../raw-facts.ts';
import { RAZORPAY_CURRENCIES } from './currencies.ts';
import { EVENT_KINDS } from './event-kinds.ts';

/**
 * What a verified Razorpay event says. The event's id stands in a header alone, and not always; without it one is derived
 * from the fact (A4). Razorpay does not say whose mode an event is of: that is its source's, which has its own secret.
 * Never throws: what is not understood is held (A7).
 */
export function readRazorpayEvent(body: Uint8Array, headers: WebhookHeaders): EventReading {
  const known: EventReading = { ...NOTHING_READ, eventId: readEventId(headers['x-razorpay-event-id']) };
  const parsed = parseEventBody(body);
  if ('problem' in parsed) return { ...known, reason: parsed.problem };
  const { event } = parsed;
  const timed: EventReading = { ...known, occurredAt: readTime(event['created_at']) ?? null };

  const type = readEventType(event['event']);
  if (type === null) return { ...timed, reason: 'The event has no type that can be read.' };
  const typed: EventReading = { ...timed, eventType: type };
  const kind = EVENT_KINDS.get(type);
  if (kind === undefined) return { ...typed, verdict: 'ignore', reason: `Events of type ${type} mean nothing here.` };
  const raw = kind.read(objectIn(event, 'payload'));
  return { ...typed, subject: kind.subject, ...readRawFacts(kind.subject, raw, RAZORPAY_CURRENCIES) };
}

/** A header that is no id identifies nothing; the fact does. */
function readEventId(header: string | string[] | undefined): string | null {
  return typeof header === 'string' && /^[\x21-\x7e]+$/.test(header) ? header : null;
}
