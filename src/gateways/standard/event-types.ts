import type { EventReading, EventSubject } from '../../domain/event-reading.ts';
import { PAYMENT_STATUSES } from '../../domain/payment-states.ts';

type Claim = NonNullable<EventReading['claimed']>;

interface SubjectRules {
  /** The last word of each type, and the states that such an event can claim. */
  readonly states: readonly Claim[];
  /** Where the id of the thing itself stands. */
  readonly idField: string;
  readonly needsPayment: boolean;
}

/** What the `standard` protocol says about each kind of event. */
export const SUBJECTS: Readonly<Record<EventSubject, SubjectRules>> = {
  payment: { states: PAYMENT_STATUSES, idField: 'payment_id', needsPayment: true },
  refund: { states: ['pending', 'succeeded', 'failed'], idField: 'refund_id', needsPayment: true },
  dispute: { states: ['opened', 'won', 'lost'], idField: 'dispute_id', needsPayment: true },
  payout: { states: ['pending', 'paid', 'failed'], idField: 'payout_id', needsPayment: false },
};

/** The protocol announces a payout's end and never its beginning, though its object can be pending. */
const NOT_ANNOUNCED: readonly string[] = ['payout.pending'];

export interface EventType {
  readonly subject: EventSubject;
  readonly claim: Claim;
}

/** By the event's type; a Map, because a type such as `constructor` must find nothing. */
export const EVENT_TYPES: ReadonlyMap<string, EventType> = new Map(
  (Object.keys(SUBJECTS) as EventSubject[])
    .flatMap((subject) => SUBJECTS[subject].states.map((claim) => ({ type: `${subject}.${claim}`, subject, claim })))
    .filter(({ type }) => !NOT_ANNOUNCED.includes(type))
    .map(({ type, subject, claim }) => [type, { subject, claim }]),
);
