import type { EventReading } from '../../domain/event-reading.ts';
import { isJsonObject, NOTHING_READ, parseEventBody, readEventType } from '../event-body.ts';
import { readAmount, readCurrency, readId, readReference, readTime } from '../fields.ts';
import type { WebhookHeaders } from '../gateway.ts';
import { EVENT_TYPES, SUBJECTS, type EventType } from './event-types.ts';

/** What a verified webhook of the `standard` protocol says. Never throws: what is not understood is held (A7). */
export function readEvent(body: Uint8Array, headers: WebhookHeaders): EventReading {
  const sentAt = readTime(headers['webhook-timestamp']) ?? null;
  const base: EventReading = { ...NOTHING_READ, eventId: eventIdOf(headers), occurredAt: sentAt };

  const parsed = parseEventBody(body);
  if ('problem' in parsed) return { ...base, reason: parsed.problem };
  const { event } = parsed;
  const occurredAt = readTime(event['timestamp']) ?? sentAt;

  const type = readEventType(event['type']);
  if (type === null) {
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
  const parsed = parseEventBody(body);
  return 'event' in parsed ? (readTime(parsed.event['timestamp']) ?? null) : null;
}

function eventIdOf(headers: WebhookHeaders): string | null {
  const id = headers['webhook-id'];
  return typeof id === 'string' && id !== '' ? id : null;
}

function readFacts({ subject, claim }: EventType, value: unknown): Partial<EventReading> {
  const data = isJsonObject(value) ? value : {};
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
    fee: subject === 'dispute' ? known(readAmount(data['fee']), 'Its fee is not a whole number of minor units.') : null,
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
