import type { Pool, PoolClient } from 'pg';
import { decideCapture, outcomeForOthers, type CaptureDecision } from '../domain/decide-capture.ts';
import type { Mode, PaymentFacts, RefundFacts } from '../domain/gateway-facts.ts';
import { deadLetterId } from '../domain/keys.ts';
import { UNALLOCATED } from '../domain/ledger.ts';
import { nextOrderLookMs } from '../domain/look-schedule.ts';
import type { PaymentOutcome } from '../domain/payment-outcome.ts';
import { paymentReaches, type PaymentStatus } from '../domain/payment-states.ts';
import type { Policies } from '../domain/policies.ts';
import { sortEvents, type SortedEvents } from '../domain/sort-events.ts';
import { applyCapture } from './apply-capture.ts';
import { applyDisputes } from './apply-disputes.ts';
import { applyRefunds } from './apply-refunds.ts';
import { clearLookAgain, finishEvents } from './finish-events.ts';
import { holdEvents } from './hold-events.ts';
import { lockEvents } from './lock-events.ts';
import { lockOrderOrItsAbsence, type LockedOrder } from './lock-order.ts';
import { lockPayment, type LockedPayment } from './lock-payment.ts';
import { openDeadLetter, recoverDeadLetters } from './open-dead-letter.ts';
import { inTransaction } from './pool.ts';
import { postCapture } from './post-capture.ts';
import { postponeEvents } from './postpone-events.ts';
import type { WaitingEvent } from './read-payment-work.ts';
import { savePayment } from './save-payment.ts';
import { updateUnpaidOrder } from './update-unpaid-order.ts';

export interface PaymentToApply {
  readonly source: string;
  readonly mode: Mode;
  readonly paymentId: string;
  /** The events that were received before the fetch began; it covers them all. */
  readonly events: readonly WaitingEvent[];
  /** Who asked besides: the ids of confirm calls. */
  readonly callers: readonly string[];
  /** What the gateway shows; null where it does not know the payment. */
  readonly facts: PaymentFacts | null;
  /** Null: they were not asked for. */
  readonly refunds: readonly RefundFacts[] | null;
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
  readonly waitingFor: 'order' | 'gateway' | null;
  /** When to look again by itself, in milliseconds from `at`; null: nothing is awaited. */
  readonly nextLookMs: number | null;
  readonly needsHuman: boolean;
  /** Refunds whose workflows should look again. */
  readonly changedRefunds: readonly string[];
}

/**
 * The money transaction: applies what the gateway shows about one payment to everything it concerns, all or nothing
 * (C1, architecture in docs/design.md). Safe to run twice: what was decided is read back, not decided again.
 */
export async function applyPayment(pool: Pool, input: PaymentToApply): Promise<AppliedPayment> {
  return inTransaction(pool, async (tx) => {
    const sorted = sortEvents(input);
    const orderId = input.knownOrderId ?? input.facts?.orderId ?? null;
    const order = orderId === null ? null : await lockOrderOrItsAbsence(tx, orderId);
    const known = await lockPayment(tx, input.source, input.paymentId);
    await lockEvents(tx, input.source, input.events);
    await holdEvents(tx, input, sorted.conflicting);
    if (sorted.otherMode) return ignoreOtherMode(tx, input, sorted);
    if (input.facts === null || !sorted.mayApply) return leaveAsItIs(tx, input, sorted, known);
    return applyFacts(tx, { input, facts: input.facts, sorted, orderId, order, known });
  });
}

interface Step {
  readonly input: PaymentToApply;
  readonly facts: PaymentFacts;
  readonly sorted: SortedEvents<WaitingEvent>;
  readonly orderId: string | null;
  readonly order: LockedOrder | null;
  readonly known: LockedPayment | null;
}

async function applyFacts(tx: PoolClient, step: Step): Promise<AppliedPayment> {
  const { input, facts, sorted, orderId, order, known } = step;
  const { source, paymentId } = input;
  // Sticky: a state is left only by a named transition, whatever a later or an older fetch shows (B3).
  const status = known === null || paymentReaches(known.status, facts.status) ? facts.status : known.status;
  const captured = capturedMoney(status, facts, known);
  const decision = decide(step, status, captured);
  const waits = decision?.action === 'wait_for_order';
  const hold = waits ? unmatchedReason(step) : status === 'captured' && captured === null ? LACKS_AMOUNT : null;
  const outcome = hold !== null ? 'held_for_review' : waits ? null : outcomeOf(decision, status);
  const fresh = decision !== null && decision.action !== 'nothing';
  const keepOutcome = !fresh && known?.status === 'captured' && known.waitingFor === null && hold === null;
  const winner = sorted.claimants[0] ?? null;
  const cause = winner?.cause ?? 'look';

  await savePayment(tx, {
    ...{ source, paymentId, orderId, status, cause, known },
    amount: captured?.amount ?? facts.amount,
    currency: captured?.currency ?? facts.currency,
    reference: facts.reference,
    outcome: outcome ?? 'pending',
    keepOutcome,
    waitingFor: waits && hold === null ? 'order' : null,
  });
  if (hold !== null) await holdPayment(tx, step, hold, captured);
  if (order !== null && status !== 'captured') await updateUnpaidOrder(tx, { ...input, order, cause });

  let current = order;
  let changedRefunds: readonly string[] = [];
  if (captured !== null && decision !== null && !waits) {
    if (order !== null) {
      current = await applyCapture(tx, decision, {
        ...{ source, paymentId, order, cause, ...captured },
        eventId: winner?.event?.eventId ?? null,
        pointsPerMajorUnit: input.policies.loyaltyPointsPerMajorUnit,
        alreadyPosted: known?.outcome === 'held_for_review' && known.amount !== null,
      });
      if (fresh) await recoverDeadLetters(tx, [deadLetterId('unmatched_payment', source, paymentId)]);
    }
    if (input.refunds !== null) {
      const applied = await applyRefunds(
        tx,
        {
          ...{ source, paymentId, cause },
          captured: captured.amount,
          currency: captured.currency,
          allocation: allocationOf(decision, outcome),
          pointsPerMajorUnit: input.policies.loyaltyPointsPerMajorUnit,
        },
        current,
        input.refunds,
      );
      changedRefunds = applied.changed;
    }
  }
  await applyDisputes(tx, input, orderId, sorted.settled);

  // Refund events wait along with a capture that waits for its order: nothing of the payment is applied yet.
  const finished = waits && hold === null ? [] : sorted.settled;
  const heldEvents = outcome === 'held_for_review' ? finished : [];
  const done = outcome === 'held_for_review' ? [] : finished;
  await finishEvents(tx, input, done, (event) =>
    fresh && event.eventId === winner?.event?.eventId ? (outcome ?? 'pending') : outcomeForOthers(outcome ?? 'pending'),
  );
  await holdEvents(
    tx,
    input,
    heldEvents.map((event) => ({ event, reason: hold ?? HELD_WITH_PAYMENT, deadLetter: false })),
  );
  const claiming = await postponeEvents(tx, input, sorted.claimingMore);
  const waiting = waits && hold === null ? await postponeForOrder(tx, step) : { pending: 0, nextLookMs: null };
  return {
    status,
    outcome: keepOutcome ? known.outcome : outcome,
    orderId,
    callerOutcomes: callerOutcomes(step, fresh ? (winner?.cause ?? null) : null, outcome ?? 'pending'),
    pendingEvents: claiming.pending + waiting.pending,
    waitingFor: waits && hold === null ? 'order' : claiming.pending > 0 ? 'gateway' : null,
    nextLookMs: least(claiming.nextLookMs, waiting.nextLookMs),
    needsHuman: outcome === 'held_for_review' || claiming.held > 0,
    changedRefunds,
  };
}

const LACKS_AMOUNT = 'The gateway shows a captured payment without an amount or a currency.';
const HELD_WITH_PAYMENT = 'The payment waits for a decision.';

function capturedMoney(
  status: PaymentStatus,
  facts: PaymentFacts,
  known: LockedPayment | null,
): { amount: bigint; currency: string } | null {
  if (status !== 'captured') return null;
  // What was captured when it was decided stays what was captured.
  const decided = known?.status === 'captured' && known.amount !== null && known.currency !== null;
  const amount = decided ? known.amount : facts.status === 'captured' ? facts.amount : null;
  const currency = decided ? known.currency : facts.currency;
  return amount === null || amount <= 0n || currency === null ? null : { amount, currency };
}

function decide(
  { input, order, known }: Step,
  status: PaymentStatus,
  capture: { amount: bigint; currency: string } | null,
): CaptureDecision | null {
  if (status !== 'captured' || capture === null) return null;
  // Held for a reason that only a person can lift: looking again does not decide it anew.
  const held = known?.outcome === 'held_for_review' && order !== null && known.orderId === order.id;
  if (held && order.currency !== capture.currency) return { action: 'nothing', outcome: 'held_for_review' };
  if (held && (order.status === 'cancelled' || order.status === 'expired') && input.policies.lateCapture === 'review') {
    return { action: 'nothing', outcome: 'held_for_review' };
  }
  return decideCapture({
    order,
    capture,
    counted: known?.counted != null,
    automaticRefund: known?.automaticRefund ?? null,
    lateCapture: input.policies.lateCapture,
  });
}

function outcomeOf(decision: CaptureDecision | null, status: PaymentStatus): PaymentOutcome | null {
  if (decision === null) return status === 'failed' || status === 'expired' ? 'failed' : 'pending';
  return decision.action === 'wait_for_order' ? null : decision.outcome;
}

function allocationOf(
  decision: CaptureDecision,
  outcome: PaymentOutcome | null,
): 'counted' | 'owed_back' | 'unallocated' {
  if (outcome === 'held_for_review') return 'unallocated';
  if (decision.action === 'count' || outcome === 'already_paid_same_payment') return 'counted';
  return 'owed_back';
}

/** Each caller's own outcome; a retry after the commit finds who counted the payment and says the same again. */
function callerOutcomes(
  { input, known }: Step,
  winner: string | null,
  outcome: PaymentOutcome,
): Record<string, PaymentOutcome> {
  return Object.fromEntries(
    input.callers.map((caller) => {
      if (known?.counted?.by === caller) return [caller, known.counted.outcome];
      return [caller, caller === winner ? outcome : outcomeForOthers(outcome)];
    }),
  );
}

/** Why a capture that has no order stops waiting; null while it goes on. */
function unmatchedReason({ input, orderId, sorted, known }: Step): string | null {
  if (orderId === null) return 'The payment was captured, and neither the gateway nor we know for which order.';
  const since = sorted.settled[0]?.receivedAt ?? known?.createdAt ?? input.at;
  const waited = input.at.getTime() - since.getTime();
  return nextOrderLookMs(0, waited, input.policies.orderWaitMs) === null
    ? `The payment was captured for order ${orderId}, and no such order was created in time.`
    : null;
}

async function postponeForOrder(
  tx: PoolClient,
  { input, sorted, known }: Step,
): Promise<{ pending: number; nextLookMs: number | null }> {
  const { orderWaitMs } = input.policies;
  const since = sorted.settled[0]?.receivedAt ?? known?.createdAt ?? input.at;
  const waited = input.at.getTime() - since.getTime();
  const attempts = Math.max(0, ...sorted.settled.map((event) => event.attempts));
  const nextLookMs = nextOrderLookMs(attempts, waited, orderWaitMs) ?? 0;
  const unfinished = sorted.settled.filter((event) => event.state === 'pending' || event.state === 'held');
  await tx.query(
    `update webhook_events set attempts = attempts + 1, next_look_at = $3::timestamptz, state = 'pending',
            last_error = 'The order does not exist yet.'
     where source = $1 and event_id = any($2)`,
    [input.source, unfinished.map((event) => event.eventId), new Date(input.at.getTime() + nextLookMs).toISOString()],
  );
  await clearLookAgain(tx, input.source, sorted.settled);
  return { pending: unfinished.length, nextLookMs };
}

async function holdPayment(
  tx: PoolClient,
  { input, orderId, sorted, known }: Step,
  reason: string,
  captured: { amount: bigint; currency: string } | null,
): Promise<void> {
  const kind = captured === null ? 'event_unreadable' : 'unmatched_payment';
  await openDeadLetter(tx, {
    id: deadLetterId(kind, input.source, input.paymentId),
    kind,
    source: input.source,
    eventId: sorted.settled[0]?.eventId ?? null,
    orderId,
    paymentId: input.paymentId,
    amount: captured?.amount ?? null,
    currency: captured?.currency ?? null,
    lastError: reason,
  });
  if (captured === null || known?.outcome === 'held_for_review') return;
  await postCapture(tx, { ...input, order: null, ...captured, alreadyPosted: false }, UNALLOCATED);
}

/** The gateway does not know the payment, or only events that contradict its object came: nothing is applied. */
async function leaveAsItIs(
  tx: PoolClient,
  input: PaymentToApply,
  sorted: SortedEvents<WaitingEvent>,
  known: LockedPayment | null,
): Promise<AppliedPayment> {
  const claiming = await postponeEvents(tx, input, [...sorted.claimingMore, ...sorted.settled]);
  const outcome = known?.outcome ?? null;
  return {
    status: known?.status ?? null,
    outcome,
    orderId: known?.orderId ?? null,
    callerOutcomes: Object.fromEntries(
      input.callers.map((caller) => [caller, outcome === null ? 'pending' : outcomeForOthers(outcome)]),
    ),
    pendingEvents: claiming.pending,
    waitingFor: claiming.pending > 0 ? 'gateway' : null,
    nextLookMs: claiming.nextLookMs,
    needsHuman: claiming.held > 0 || sorted.conflicting.length > 0,
    changedRefunds: [],
  };
}

async function ignoreOtherMode(
  tx: PoolClient,
  input: PaymentToApply,
  sorted: SortedEvents<WaitingEvent>,
): Promise<AppliedPayment> {
  const reason = `The gateway's object is of the other mode; this source is ${input.mode}.`;
  await finishEvents(tx, input, [...sorted.settled, ...sorted.claimingMore], () => reason, 'ignored');
  return {
    ...{ status: null, outcome: null, orderId: null, pendingEvents: 0, waitingFor: null, nextLookMs: null },
    callerOutcomes: Object.fromEntries(input.callers.map((caller) => [caller, 'not_payable'])),
    needsHuman: false,
    changedRefunds: [],
  };
}

function least(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.min(a, b);
}
