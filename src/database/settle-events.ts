import { outcomeForOthers } from '../domain/decide-capture.ts';
import { nextHeldLookMs } from '../domain/look-schedule.ts';
import type { PaymentOutcome } from '../domain/payment-outcome.ts';
import { applyDisputes } from './apply-disputes.ts';
import type { PaymentStep } from './apply-facts.ts';
import { finishEvents } from './finish-events.ts';
import { holdEvents } from './hold-events.ts';
import type { LockedOrder } from './lock-order.ts';
import type { Tx } from './pool.ts';
import { postponeEvents } from './postpone-events.ts';
import type { WaitingEvent } from './read-payment-work.ts';

/** What the look that is being applied came to. */
export interface SettledLook {
  /** As it stands after the capture and its refunds; null where there is none. */
  readonly order: LockedOrder | null;
  /** Of the payment as a whole. */
  readonly outcome: PaymentOutcome;
  /** The event that this outcome goes to; every other one about the payment hears what it means for others. */
  readonly winner: WaitingEvent | null;
  /** The events about the payment and its refunds that end with it. */
  readonly events: readonly WaitingEvent[];
  /** Why a person has to look, where this look is the first to say so. */
  readonly reason: string | null;
  /** The gateway shows another amount than was decided: why the events about the payment are held, and looked at again. */
  readonly changed: string | null;
}

export interface SettledEvents {
  /** Events that wait for the gateway to show what they claim. */
  readonly pending: number;
  /** Events that are before a person and are looked at again by themselves. */
  readonly heldEvents: number;
  /** Until it is asked again, in milliseconds; null: nothing waits. */
  readonly nextLookMs: number | null;
  /** Some of them were put before a person. */
  readonly held: boolean;
}

/**
 * The last part of every look at a payment, whatever it is for: disputes are applied, and each event that the look covers is
 * done, held with its payment, or waits for the gateway's next answer.
 */
export async function settleEvents(tx: Tx, step: PaymentStep, look: SettledLook): Promise<SettledEvents> {
  const { input, sorted, known } = step;
  const { outcome, winner } = look;
  const reason = look.reason ?? 'The payment waits for a decision.';
  // What tells only of a state that the payment has left is done even where the payment as it is waits for a person.
  const heldWithPayment =
    outcome === 'held_for_review' ? look.events.filter((event) => !sorted.oldNews.includes(event)) : [];
  const { changed } = look;
  const ofChanged =
    changed === null ? [] : look.events.filter((event) => isHeldFor(step, event) && !heldWithPayment.includes(event));
  const done = look.events.filter((event) => !heldWithPayment.includes(event) && !ofChanged.includes(event));
  // What a customer contests is applied whatever becomes of the payment itself.
  const disputes = await applyDisputes(tx, {
    ...{ ...input, order: look.order, known: known?.disputed ?? false },
    events: sorted.settled.filter((event) => event.subject === 'dispute'),
  });
  await finishEvents(tx, input, [...done, ...disputes.done], (event) => {
    if (event.subject !== 'payment') return `${event.subject ?? 'event'}_recorded`;
    return event.eventId === winner?.eventId ? outcome : outcomeForOthers(outcome);
  });
  const nextLookAt = new Date(input.at.getTime() + nextHeldLookMs(false));
  await holdEvents(tx, input, [
    ...heldWithPayment.map((event) => ({ event, reason, deadLetter: false })),
    ...ofChanged.map((event) => ({ event, reason: changed ?? reason, deadLetter: false, nextLookAt })),
    ...disputes.held,
  ]);
  const claiming = await postponeEvents(tx, input, sorted.claimingMore, disputes.waiting);
  return {
    ...{ pending: claiming.pending, heldEvents: claiming.held + ofChanged.length, nextLookMs: claiming.nextLookMs },
    held: claiming.held > 0 || changed !== null || disputes.held.length > 0,
  };
}

/** Money moved otherwise than was decided: only what tells of the payment itself waits, and what it has left behind does not. */
function isHeldFor({ sorted }: PaymentStep, event: WaitingEvent): boolean {
  return (
    event.subject === 'payment' &&
    !sorted.oldNews.includes(event) &&
    event.state !== 'processed' &&
    event.state !== 'ignored'
  );
}
