import type { DeadLetterKind } from './dead-letter-choices.ts';

/** Where people are told. */
export const ALERT_CHANNELS = ['log', 'slack', 'email'] as const;
export type AlertChannelName = (typeof ALERT_CHANNELS)[number];

/** What people are told of: whatever waits for a decision, a gateway that refuses our key or gives no list, a broken promise. */
export type AlertKind = DeadLetterKind | 'credentials_refused' | 'events_not_listed' | 'audit_violation';

/** What an alert is about: ids and amounts (minor units as decimal text), never personal data. */
export interface AlertSubject {
  readonly dead_letter_id?: string;
  readonly source?: string;
  readonly order_id?: string;
  readonly payment_id?: string;
  readonly refund_id?: string;
  readonly payout_id?: string;
  readonly event_id?: string;
  readonly amount?: string;
  readonly currency?: string;
  /** What the audit calls the broken promise, and how often it was broken when it was found. */
  readonly invariant?: string;
  readonly violations?: string;
}

export interface Alert {
  /** Decimal text. */
  readonly id: string;
  readonly kind: AlertKind;
  readonly subject: AlertSubject;
}

export interface ToldAlert extends Alert {
  /** When it was told, or reminded of, last; milliseconds since the epoch, as all times here. */
  readonly lastToldAt: number;
  readonly reminders: number;
}

/** What one channel has to tell, and what it has told. */
export interface AlertWork {
  /** Open, and not told on this channel. */
  readonly untold: readonly Alert[];
  /** Open and told. */
  readonly told: readonly ToldAlert[];
  /** Told, and come right by themselves since. */
  readonly recovered: readonly Alert[];
  /** What was sent uses up time until here: see `pacedUntilAfter`. */
  readonly pacedUntil: number;
}

export interface AlertMessage {
  readonly type: 'raised' | 'reminder' | 'recovered';
  readonly alerts: readonly Alert[];
}

export interface AlertPlan {
  /** To send now. */
  readonly message: AlertMessage | null;
  /** When to look again; null: nothing is open. */
  readonly nextLookMs: number | null;
  /** Something is there to say, and is held back: what comes meanwhile changes nothing. */
  readonly paced: boolean;
}

/** A refund in doubt has waited half a working day by then: late enough to have been missed, early enough for today. */
export const DEFAULT_REMIND_AFTER_MS = 4 * 60 * 60_000;
/** Whoever has seen two messages about it has it on the list; a third and further ones are for the morning round. */
const REMIND_AGAIN_MS = 24 * 60 * 60_000;
/** What will be due soon joins a reminder that goes out: of a morning's trouble one message, not ten over the day. */
const TOGETHER_SHARE = 0.25;

/** One trouble, and four more of another kind, are told at once; more within minutes are a flood, which is told by numbers. */
const AT_ONCE = 5;
/** In a flood: often enough to see whether it goes on, seldom enough to be read. */
const PACE_MS = 60_000;

/**
 * What to say on one channel now, at most one message: new trouble first, then what came right, then reminders. Money in doubt is told
 * at once; in a flood everything that has come since the last message goes into the next one.
 */
export function planAlerts(work: AlertWork, at: number, remindAfterMs: number): AlertPlan {
  const message = nextMessage(work, at, remindAfterMs);
  if (message !== null) {
    const heldBackMs = work.pacedUntil - (AT_ONCE - 1) * PACE_MS - at;
    if (heldBackMs > 0) return { message: null, nextLookMs: heldBackMs, paced: true };
    return { message, nextLookMs: 0, paced: false };
  }
  const due = work.told.map((alert) => reminderDueAt(alert, remindAfterMs));
  const nextLookMs = due.length === 0 ? null : Math.max(1, due.reduce((a, b) => Math.min(a, b)) - at);
  return { message: null, nextLookMs, paced: false };
}

/** Each message sent takes its share of the pace; an hour of silence gives no more than `AT_ONCE` of them back. */
export function pacedUntilAfter(pacedUntil: number, at: number): number {
  return Math.max(pacedUntil, at) + PACE_MS;
}

function nextMessage(work: AlertWork, at: number, remindAfterMs: number): AlertMessage | null {
  if (work.untold.length > 0) return { type: 'raised', alerts: work.untold };
  if (work.recovered.length > 0) return { type: 'recovered', alerts: work.recovered };
  const dueBy = (time: number) => work.told.filter((alert) => reminderDueAt(alert, remindAfterMs) <= time);
  if (dueBy(at).length === 0) return null;
  return { type: 'reminder', alerts: dueBy(at + remindAfterMs * TOGETHER_SHARE) };
}

function reminderDueAt({ lastToldAt, reminders }: ToldAlert, remindAfterMs: number): number {
  return lastToldAt + (reminders === 0 ? remindAfterMs : Math.max(remindAfterMs, REMIND_AGAIN_MS));
}
