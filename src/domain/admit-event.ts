import { cleanedText, isStorableText } from './cleaned-text.ts';
import { derivedEventId } from './derived-event-id.ts';
import type { EventReading } from './event-reading.ts';
import type { Mode } from './gateway-facts.ts';

/** A verified webhook as it goes into the inbox: every text of it can be stored. */
export interface AdmittedEvent {
  readonly eventId: string;
  readonly eventType: string;
  /** `pending`: for the payment's workflow. `ignored` and `held` have a reason. */
  readonly state: 'pending' | 'ignored' | 'held';
  /** A sentence; null for a pending one. */
  readonly reason: string | null;
  readonly subject: EventReading['subject'];
  readonly objectId: string | null;
  readonly paymentId: string | null;
  readonly orderId: string | null;
  readonly claimed: EventReading['claimed'];
  readonly reference: string | null;
  /** Minor units, as the event itself says. */
  readonly amount: bigint | null;
  readonly currency: string | null;
  readonly fee: bigint | null;
  /** Not kept: what a dispute withholds is looked up. It only tells whether an event that is listed says something new. */
  readonly withheld: boolean | null;
  /** Milliseconds since the epoch. */
  readonly occurredAt: number | null;
}

export interface EventToAdmit {
  readonly reading: EventReading;
  readonly sourceMode: Mode;
  /** Whether the body could be kept as JSON. */
  readonly isJson: boolean;
  readonly bodySha256Hex: string;
  readonly ignoreBefore: number | null;
  readonly sha256Hex: (text: string) => string;
}

/** A btree entry ends at 2,704 bytes; gateways' own ids stay below 100 characters. */
const LONGEST_EVENT_ID = 255;
const LONGEST_NAME = 255;
/** A reason may quote what the sender wrote. */
const LONGEST_REASON = 1_000;

/** Ids of payments and orders go into workflow ids and addresses. */
const VISIBLE_ID = /^[\x21-\x7e]{1,200}$/;

/** Our own payouts carry a reference that begins like this. */
const PAYOUT_REFERENCE = /^payout:/;

// From 1970 to the end of the year 9999: beyond it a number is no moment but a mistake.
const LAST_MOMENT_MS = 253_402_300_799_999;

/** Whether an id of a payment or an order can be used: 1–200 visible ASCII characters. */
export function isUsableId(id: string): boolean {
  return VISIBLE_ID.test(id);
}

/** Decides what a verified webhook is to us (A7, A8), and under which id it is kept (A4). Nothing is dropped. */
export function admitEvent(event: EventToAdmit): AdmittedEvent {
  const { reading } = event;
  const rawId = reading.eventId ?? '';
  const occurredAt = momentOf(reading.occurredAt);
  const { state, reason } = verdictOn(event, occurredAt);
  return {
    eventId: keptId(
      rawId === '' ? derivedEventId({ ...reading, occurredAt }, event.bodySha256Hex) : rawId,
      event.sha256Hex,
    ),
    eventType: shortText(reading.eventType, LONGEST_NAME),
    state,
    reason,
    subject: reading.subject,
    objectId: storable(reading.objectId),
    paymentId: usable(reading.paymentId),
    orderId: usable(reading.orderId),
    claimed: reading.claimed,
    reference: storable(reading.reference),
    amount: reading.amount,
    currency: reading.currency,
    fee: reading.fee,
    withheld: reading.withheld,
    occurredAt,
  };
}

type Verdict = Pick<AdmittedEvent, 'state' | 'reason'>;

function verdictOn({ reading, sourceMode, isJson, ignoreBefore }: EventToAdmit, occurredAt: number | null): Verdict {
  if (reading.mode !== null && reading.mode !== sourceMode)
    return ignored(`${reading.mode}-mode event at a ${sourceMode} source`);
  // Before all else: what came before we began is nobody's question, not even where it cannot be understood.
  if (occurredAt !== null && ignoreBefore !== null && occurredAt < ignoreBefore)
    return ignored('older than policies.ignore_before');
  if (reading.verdict === 'hold') return held(reading.reason ?? 'The event cannot be understood.');
  if (!isJson)
    return held('The body is not JSON that can be kept: not UTF-8, or nested too deeply, or a number out of range.');
  if (reading.verdict === 'ignore') return ignored(reading.reason ?? 'of no concern here');
  if (reading.eventId !== null && !isStorableText(reading.eventId))
    return held("The event's id holds NUL or half a surrogate pair.");
  if (reading.subject === 'payout') return payoutVerdict(reading.reference);
  if (reading.paymentId === null) return held('The event names no payment.');
  if (!isUsableId(reading.paymentId)) return held("The payment's id is not 1–200 visible ASCII characters.");
  if (reading.orderId !== null && !isUsableId(reading.orderId))
    return held("The order's id is not 1–200 visible ASCII characters.");
  return { state: 'pending', reason: null };
}

function payoutVerdict(reference: string | null): Verdict {
  // Without a reference it may still be one of ours, by the gateway's id: whoever hands it over finds out.
  if (reference !== null && !PAYOUT_REFERENCE.test(reference)) return ignored("gateway's own payout");
  return { state: 'pending', reason: null };
}

function ignored(reason: string): Verdict {
  return { state: 'ignored', reason: shortText(reason, LONGEST_REASON) };
}

function held(reason: string): Verdict {
  return { state: 'held', reason: shortText(reason, LONGEST_REASON) };
}

/** An id that cannot be a key is kept under its hash, which the answer to the sender names. */
function keptId(id: string, sha256Hex: (text: string) => string): string {
  return id.length <= LONGEST_EVENT_ID && isStorableText(id) ? id : `sha256:${sha256Hex(id)}`;
}

function usable(id: string | null): string | null {
  return id !== null && isUsableId(id) ? id : null;
}

function storable(text: string | null): string | null {
  return text === null ? null : shortText(text, LONGEST_NAME);
}

/** Cut first: a cut can leave half of a pair at the end. */
function shortText(text: string, most: number): string {
  return cleanedText(text.slice(0, most));
}

function momentOf(milliseconds: number | null): number | null {
  return milliseconds !== null && milliseconds >= 0 && milliseconds <= LAST_MOMENT_MS ? milliseconds : null;
}
