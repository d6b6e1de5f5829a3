import type { DisputeStatus, EventReading, EventSubject } from './event-reading.ts';
import type { DisputeFacts, Mode, PaymentFacts, RefundFacts } from './gateway-facts.ts';
import { qualifiedEventId } from './keys.ts';
import type { PaymentStatus } from './payment-states.ts';
import type { GatewayRefundStatus } from './refund-states.ts';
import { weighDisputeEvent, weighPaymentEvent, weighRefundEvent, type EventWeight } from './weigh-event.ts';

/** What sorting needs to know of an event. */
export interface SortableEvent {
  readonly eventId: string;
  readonly subject: EventSubject | null;
  readonly objectId: string | null;
  readonly orderId: string | null;
  readonly claimed: EventReading['claimed'];
}

/** Who may get the outcome: an event, or a caller. */
export interface Claimant<E> {
  readonly cause: string;
  readonly event: E | null;
}

export interface SortedEvents<E> {
  /** Covered by the fetch: processed once it is applied. */
  readonly settled: readonly E[];
  /** Those of them about the payment that tell of a state it has left: done even where the payment as it is waits for a person. */
  readonly oldNews: readonly E[];
  /** They claim more than the gateway shows (B3). */
  readonly claimingMore: readonly E[];
  /** They name another order than the gateway's object does: a human looks. */
  readonly conflicting: readonly { readonly event: E; readonly reason: string; readonly deadLetter: boolean }[];
  /** The gateway's object belongs to other books than the source (A8). */
  readonly otherMode: boolean;
  /** False where nothing but contradicting events asked for the fetch. */
  readonly mayApply: boolean;
  /** In the order in which they may win: events that say just this, callers, events that are old news. */
  readonly claimants: readonly Claimant<E>[];
}

/** Sorts the events of a payment by what a fetch that covers them shows. */
export function sortEvents<E extends SortableEvent>(input: {
  readonly source: string;
  readonly mode: Mode;
  readonly events: readonly E[];
  readonly callers: readonly string[];
  readonly facts: PaymentFacts | null;
  readonly refunds: readonly RefundFacts[] | null;
  readonly disputes: readonly DisputeFacts[] | null;
}): SortedEvents<E> {
  const { facts, events } = input;
  const contradicts = (event: E) => facts?.orderId != null && event.orderId !== null && event.orderId !== facts.orderId;
  const agreeing = events.filter((event) => !contradicts(event));
  const weighed = agreeing.map((event) => ({ event, weight: weigh(event, facts, input.refunds, input.disputes) }));
  const settled = weighed.filter(({ weight }) => weight !== 'claims_more');
  const byEvent = (weight: EventWeight) =>
    settled
      .filter((w) => w.weight === weight && w.event.subject === 'payment')
      .map(({ event }) => ({ cause: qualifiedEventId(input.source, event.eventId), event }));
  const conflicting = events.filter(contradicts);
  return {
    settled: settled.map(({ event }) => event),
    oldNews: settled
      .filter(({ event, weight }) => weight === 'old_news' && event.subject === 'payment')
      .map(({ event }) => event),
    claimingMore: weighed.filter(({ weight }) => weight === 'claims_more').map(({ event }) => event),
    conflicting: conflicting.map((event) => ({
      event,
      reason: `The event names order ${event.orderId ?? ''}, but the gateway's payment belongs to order ${facts?.orderId ?? ''}.`,
      deadLetter: true,
    })),
    otherMode: facts?.mode != null && facts.mode !== input.mode,
    mayApply: conflicting.length === 0 || agreeing.length > 0 || input.callers.length > 0,
    claimants: [
      ...byEvent('exact'),
      ...input.callers.map((caller) => ({ cause: caller, event: null })),
      ...byEvent('old_news'),
    ],
  };
}

function weigh(
  event: SortableEvent,
  facts: PaymentFacts | null,
  refunds: readonly RefundFacts[] | null,
  disputes: readonly DisputeFacts[] | null,
): EventWeight {
  switch (event.subject) {
    case 'refund': {
      // A refund says that the payment was captured; until the gateway shows that, there is nothing to refund from.
      if (facts?.status !== 'captured') return 'claims_more';
      if (event.objectId === null) return 'exact';
      const refund = refunds?.find((r) => r.refundId === event.objectId);
      return weighRefundEvent(event.claimed as GatewayRefundStatus | null, refund?.status ?? null);
    }
    case 'payment':
      return weighPaymentEvent(event.claimed as PaymentStatus | null, facts?.status ?? null);
    case 'dispute': {
      if (facts === null) return 'claims_more';
      // Where the gateway shows no disputes the event itself is the truth, and so is a notice that names none.
      if (disputes === null || event.objectId === null) return 'exact';
      const dispute = disputes.find((d) => d.disputeId === event.objectId);
      return weighDisputeEvent(event.claimed as DisputeStatus | null, dispute?.status ?? null);
    }
    case 'payout':
    case null:
      return facts === null ? 'claims_more' : 'exact';
  }
}
