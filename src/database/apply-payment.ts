import type { Pool, PoolClient } from 'pg';
import { outcomeForOthers } from '../domain/decide-capture.ts';
import type { DisputeFacts, Mode, PaymentFacts, RefundFacts } from '../domain/gateway-facts.ts';
import { topUpOf } from '../domain/keys.ts';
import type { PaymentOutcome } from '../domain/payment-outcome.ts';
import type { PaymentStatus } from '../domain/payment-states.ts';
import type { Policies } from '../domain/policies.ts';
import { nextUnreadLookMs } from '../domain/look-schedule.ts';
import type { UnreadPayment } from '../domain/unread-payment.ts';
import { sortEvents, type SortedEvents } from '../domain/sort-events.ts';
import { applyFacts, type PaymentStep } from './apply-facts.ts';
import { applyTopUpFacts } from './apply-top-up-facts.ts';
import { finishEvents } from './finish-events.ts';
import { followAuthorization } from './follow-authorization.ts';
import { holdEvents } from './hold-events.ts';
import { lockEvents } from './lock-events.ts';
import { lockOrderOrItsAbsence } from './lock-order.ts';
import { lockPayment, lockPaymentOrItsAbsence, type LockedPayment } from './lock-payment.ts';
import { inTransaction } from './pool.ts';
import { postponeEvents, recoverPostponed } from './postpone-events.ts';
import type { WaitingEvent } from './read-payment-work.ts';

export interface PaymentToApply {
  readonly source: string;
  readonly mode: Mode;
  /** Configured accounts of the other mode; without, there are none. */
  readonly otherModeSources?: readonly string[];
  readonly paymentId: string;
  /** The events that were received before the fetch began; it covers them all. */
  readonly events: readonly WaitingEvent[];
  /** Who asked besides: the ids of confirm calls. */
  readonly callers: readonly string[];
  /** What the gateway shows; null where it does not know the payment. */
  readonly facts: PaymentFacts | null;
  /** Why the gateway could not be asked; then nothing is known of what it shows. */
  readonly unread?: UnreadPayment | null;
  /** Null: they were not asked for. */
  readonly refunds: readonly RefundFacts[] | null;
  /** The disputes that events are about; null where the gateway shows none: then the events are the truth. */
  readonly disputes: readonly DisputeFacts[] | null;
  /** The order that the payment was decided for, or that we prepared it for. */
  readonly knownOrderId: string | null;
  /** The engine's time of this look. */
  readonly at: Date;
  readonly policies: Policies;
}

export interface AppliedPayment {
  readonly status: PaymentStatus | null;
  /** Of the payment as a whole. */
  readonly outcome: PaymentOutcome | null;
  readonly orderId: string | null;
  /** Of each caller; one of all callers and events gets `marked_paid`. */
  readonly callerOutcomes: Readonly<Record<string, PaymentOutcome>>;
  readonly pendingEvents: number;
  /** Events that are before a person and are looked at again by themselves. */
  readonly heldEvents: number;
  readonly waitingFor: 'order' | 'gateway' | null;
  /** When to look again by itself, in milliseconds from `at`; null: nothing is awaited. */
  readonly nextLookMs: number | null;
  readonly needsHuman: boolean;
  /** Refunds whose workflows should look again. */
  readonly changedRefunds: readonly string[];
  /** Workflows of charges, top-ups, captures and voids that should look again. */
  readonly changedMoves: readonly string[];
}

/**
 * The money transaction: applies what the gateway shows about one payment to everything it concerns, all or nothing
 * (C1, architecture in docs/design.md). Safe to run twice: what was decided is read back, not decided again.
 */
export async function applyPayment(pool: Pool, asked: PaymentToApply): Promise<AppliedPayment> {
  return inTransaction(pool, async (tx) => {
    const orderId = asked.knownOrderId ?? asked.facts?.orderId ?? null;
    const order = orderId === null ? null : await lockOrderOrItsAbsence(tx, orderId);
    const lock = orderId === null ? lockPaymentOrItsAbsence : lockPayment;
    const known = await lock(tx, asked.source, asked.paymentId);
    const decided = known === null ? null : decidedOrderOf(known);
    if (decided !== null && orderId !== null && decided !== orderId) {
      throw new Error(
        `Payment ${asked.source}:${asked.paymentId} was decided for another order meanwhile; it is looked at again.`,
      );
    }
    const input = { ...asked, events: await lockEvents(tx, asked.source, asked.events) };
    const sorted = sortEvents(input);
    await holdEvents(tx, input, sorted.conflicting);
    if (sorted.otherMode) return ignoreOtherMode(tx, input, sorted);
    if (input.facts === null || !sorted.mayApply) return leaveAsItIs(tx, input, sorted, known);
    const step = { input, facts: input.facts, sorted, orderId, order, known };
    const topUp = topUpOf(input.facts.reference ?? known?.reference ?? null);
    const applied = topUp === null ? await applyFacts(tx, step) : await applyTopUpFacts(tx, step, topUp);
    await recoverPostponed(tx, input);
    return withAuthorization(tx, step, applied);
  });
}

/**
 * What was asked for of an authorised payment follows it. Only one that was authorised can have been asked for anything, so
 * that a payment which is captured at once pays for no look at it.
 */
async function withAuthorization(tx: PoolClient, step: PaymentStep, applied: AppliedPayment): Promise<AppliedPayment> {
  const { input, known, sorted } = step;
  if (applied.status === null || known === null || known.status === 'pending' || known.status === applied.status) {
    return applied;
  }
  const moves = await followAuthorization(tx, {
    ...{ source: input.source, paymentId: input.paymentId, orderId: applied.orderId, status: applied.status },
    cause: sorted.claimants[0]?.cause ?? 'look',
  });
  return moves.length === 0 ? applied : { ...applied, changedMoves: [...applied.changedMoves, ...moves] };
}

/** The gateway does not know the payment, or cannot be asked, or only events that contradict its object came: nothing is applied. */
async function leaveAsItIs(
  tx: PoolClient,
  input: PaymentToApply,
  sorted: SortedEvents<WaitingEvent>,
  known: LockedPayment | null,
): Promise<AppliedPayment> {
  const claiming = await postponeEvents(tx, input, [...sorted.claimingMore, ...sorted.settled]);
  const outcome = known?.outcome ?? null;
  const waitsForOrder = input.unread != null && known?.waitingFor === 'order';
  return {
    status: known?.status ?? null,
    outcome,
    orderId: known?.orderId ?? null,
    callerOutcomes: Object.fromEntries(
      input.callers.map((caller) => [caller, outcome === null ? 'pending' : outcomeForOthers(outcome)]),
    ),
    ...{ pendingEvents: claiming.pending, heldEvents: claiming.held },
    waitingFor: claiming.pending > 0 || (input.unread != null && claiming.held > 0) ? 'gateway' : null,
    nextLookMs: claiming.nextLookMs ?? (waitsForOrder ? nextUnreadLookMs(Infinity, 0) : null),
    needsHuman: claiming.held > 0 || sorted.conflicting.length > 0,
    changedRefunds: [],
    changedMoves: [],
  };
}

async function ignoreOtherMode(
  tx: PoolClient,
  input: PaymentToApply,
  sorted: SortedEvents<WaitingEvent>,
): Promise<AppliedPayment> {
  const reason = `The gateway's object is of the other mode; this source is ${input.mode}.`;
  await finishEvents(tx, input, [...sorted.settled, ...sorted.claimingMore], () => reason, 'ignored');
  await recoverPostponed(tx, input);
  return {
    ...{
      status: null,
      outcome: null,
      orderId: null,
      pendingEvents: 0,
      heldEvents: 0,
      waitingFor: null,
      nextLookMs: null,
    },
    callerOutcomes: Object.fromEntries(input.callers.map((caller) => [caller, 'not_payable'])),
    needsHuman: false,
    changedRefunds: [],
    changedMoves: [],
  };
}

/** The order that a captured payment belongs to from then on, whatever the gateway's object says later. */
function decidedOrderOf({ status, waitingFor, orderId }: LockedPayment): string | null {
  return status === 'captured' && waitingFor === null ? orderId : null;
}
