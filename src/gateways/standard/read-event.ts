import type { EventReading } from '../../domain/event-reading.ts';
import type { WebhookHeaders } from '../gateway.ts';
import { EVENT_TYPES, SUBJECTS, type EventType } from './event-types.ts';
import { parseExactJson } from './exact-json.ts';
import { readAmount, readCurrency, readId, readReference, readTime } from './fields.ts';

/** A type has to fit a column and a label: 1–100 visible ASCII characters. */
const TYPE = /^[\x21-\x7e]{1,100}$/;

const NOTHING_READ: EventReading = {
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
  mode: null,
  occurredAt: null,
  reference: null,
};

/** What a verified webhook of the `standard` protocol says. Never throws: what is not understood is held (A7). */
export function readEvent(body: Uint8Array, headers: WebhookHeaders): EventReading {
  const sentAt = readTime(headers['webhook-timestamp']) ?? null;
  const base: EventReading = { ...NOTHING_READ, eventId: eventIdOf(headers), occurredAt: sentAt };

  const parsed = parseBody(body);
  if ('reason' in parsed) return { ...base, reason: parsed.reason };
  const { event } = parsed;
  const occurredAt = readTime(event['timestamp']) ?? sentAt;

  const type = event['type'];
  if (typeof type !== 'string' || !TYPE.test(type)) {
    return { ...base, occurredAt, reason: 'The event has no type that can be read.' };
  }
  const known = EVENT_TYPES.get(type);
  if (known === undefined) {
    return {
      ...base,
      occurredAt,
      eventType: type,
      verdict: 'ignore',
      reason: `Events of type ${type} mean nothing here.`,
    };
  }
  return { ...base, occurredAt, eventType: type, ...readFacts(known, event['data']) };
}

/** The event's own time in milliseconds, where the body tells one; which secrets hold for it depends on it. */
export function readEventTime(body: Uint8Array): number | null {
  const parsed = parseBody(body);
  return 'event' in parsed ? (readTime(parsed.event['timestamp']) ?? null) : null;
}

function eventIdOf(headers: WebhookHeaders): string | null {
  const id = headers['webhook-id'];
  return typeof id === 'string' && id !== '' ? id : null;
}

function parseBody(body: Uint8Array): { event: Record<string, unknown> } | { reason: string } {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return { reason: 'The body is not UTF-8 text: it holds a byte that belongs to no character.' };
  }
  if (text.startsWith('\ufeff'))
    return { reason: 'The body begins with a byte order mark, which JSON does not allow.' };
  try {
    const value = parseExactJson(text);
    return isRecord(value) ? { event: value } : { reason: 'The body is JSON, but not an object.' };
  } catch (error) {
    return {
      reason: error instanceof RangeError ? 'The body is nested too deeply to be an event.' : 'The body is not JSON.',
    };
  }
}

function readFacts({ subject, claim }: EventType, value: unknown): Partial<EventReading> {
  const data = isRecord(value) ? value : {};
  const rules = SUBJECTS[subject];
  const problems: string[] = [];
  /** Null for what is absent and for what cannot be understood; the latter is a problem. */
  function known<T>(found: T | null | undefined, problem: string): T | null {
    if (found === undefined) problems.push(problem);
    return found ?? null;
  }
  function id(field: string): string | null {
    return known(readId(data[field]), `Its ${field} is not 1 to 200 visible ASCII characters.`);
  }

  const objectId = id(rules.idField);
  const paymentId = rules.idField === 'payment_id' ? objectId : id('payment_id');
  const reference = readReference(data['reference']);
  const facts: Partial<EventReading> = {
    subject,
    objectId,
    paymentId,
    orderId: id('order_id'),
    claimed: rules.states.find((state) => state === data['status']) ?? claim,
    amount: known(
      readAmount(data['amount']),
      'Its amount is not a whole number of minor units that can be read exactly.',
    ),
    currency: known(readCurrency(data['currency']), 'Its currency is not a code of three letters.'),
    mode: known(readMode(data['mode']), 'Its mode is neither test nor live.'),
    reference,
  };
  if (rules.needsPayment && readId(data['payment_id']) === null) problems.push('It names no payment_id.');
  if (subject === 'payout' && readId(data['payout_id']) === null && reference === null) {
    problems.push('It names neither a payout_id nor a reference.');
  }
  // Nothing can be fetched about a dispute, so the event is the truth there, and must not contradict itself.
  if (subject === 'dispute' && facts.claimed !== claim)
    problems.push(`Its type says ${claim} and its status ${facts.claimed}.`);
  return { ...facts, verdict: problems.length === 0 ? 'take' : 'hold', reason: problems.join(' ') || null };
}

function readMode(value: unknown): 'test' | 'live' | null | undefined {
  if (value === null || value === undefined) return null;
  return value === 'test' || value === 'live' ? value : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
