import type { PoolClient } from 'pg';
import { decideCapture, outcomeForOthers, type CaptureDecision } from '../domain/decide-capture.ts';
import type { PaymentFacts } from '../domain/gateway-facts.ts';
import { deadLetterId } from '../domain/keys.ts';
import type { PaymentOutcome } from '../domain/payment-outcome.ts';
import { paymentStatusAfter, type PaymentStatus } from '../domain/payment-states.ts';
import type { SortedEvents } from '../domain/sort-events.ts';
import { applyCapture } from './apply-capture.ts';
import type { AppliedPayment, PaymentToApply } from './apply-payment.ts';
import { applyShownRefunds } from './apply-shown-refunds.ts';
import { followCardPayment } from './follow-card-payment.ts';
import { holdChangedAmount } from './hold-changed-amount.ts';
import { holdPayment } from './hold-payment.ts';
import { isOfOtherMode } from './is-of-other-mode.ts';
import type { LockedOrder } from './lock-order.ts';
import type { LockedPayment } from './lock-payment.ts';
import { recoverDeadLetters } from './open-dead-letter.ts';
import type { WaitingEvent } from './read-payment-work.ts';
import { savePayment } from './save-payment.ts';
import { settleEvents } from './settle-events.ts';
import { updateUnpaidOrder } from './update-unpaid-order.ts';
import { unmatchedReason, waitForOrder } from './wait-for-order.ts';

/** What a gateway shows of a payment, and everything of ours that it concerns; all rows are held by this transaction. */
export interface PaymentStep {
  readonly input: PaymentToApply;
  readonly facts: PaymentFacts;
  readonly sorted: SortedEvents<WaitingEvent>;
  readonly orderId: string | null;
  /** Null where there is no such order yet; then none comes into being before the end of this transaction. */
  readonly order: LockedOrder | null;
  readonly known: LockedPayment | null;
}

/** Applies it: the payment's state, the order, consequences, refunds, events, in this order. */
export async function applyFacts(tx: PoolClient, step: PaymentStep): Promise<AppliedPayment> {
  const { input, facts, sorted, orderId, order, known } = step;
  const { source, paymentId } = input;
  const status = paymentStatusAfter(known?.status ?? null, facts.status);
  const captured = capturedMoney(status, facts, known);
  const otherMode =
    captured !== null && order !== null && (await isOfOtherMode(tx, order.id, input.otherModeSources ?? []));
  const decision = decide(step, status, captured, otherMode);
  const waits = decision?.action === 'wait_for_order';
  const paymentEvents = sorted.settled.filter((event) => event.subject !== 'dispute');
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
  const move = await followCardPayment(tx, {
    ...{ source, paymentId, orderId, status, cause, reference: facts.reference ?? known?.reference ?? null },
  });
  if (hold !== null) await holdPayment(tx, step, hold, captured);
  const changed = await holdChangedAmount(tx, step);
  // Money that is held is neither under way nor for this order: nothing of it stands in the order's status, whatever came before.
  if (order !== null && (status !== 'captured' || outcome === 'held_for_review')) {
    await updateUnpaidOrder(tx, { ...input, order, cause });
  }

  // Refund events wait along with a capture that waits for its order: nothing of the payment is applied yet.
  const finished = waits && hold === null ? [] : paymentEvents;
  const applied = captured !== null && decision !== null && !waits;
  const current = applied ? await applyDecision(tx, step, decision, captured) : order;
  const refunds = applied
    ? await applyShownRefunds(
        tx,
        input,
        { ...captured, cause, allocation: allocationOf(decision, outcome), order: current },
        finished,
      )
    : { order: current, changed: [] };
  const settled = await settleEvents(tx, step, {
    ...{ order: refunds.order, outcome: outcome ?? 'pending', winner: fresh ? (winner?.event ?? null) : null },
    ...{ events: finished, reason: hold, changed },
  });
  const waiting =
    waits && hold === null
      ? await waitForOrder(tx, { ...step, sorted: { ...sorted, settled: paymentEvents } })
      : { pending: 0, nextLookMs: null };
  return {
    status,
    outcome: keepOutcome ? known.outcome : outcome,
    orderId,
    callerOutcomes: callerOutcomes(step, fresh ? (winner?.cause ?? null) : null, outcome ?? 'pending'),
    pendingEvents: settled.pending + waiting.pending,
    heldEvents: settled.heldEvents,
    waitingFor: waits && hold === null ? 'order' : settled.pending > 0 ? 'gateway' : null,
    nextLookMs: least(settled.nextLookMs, waiting.nextLookMs),
    needsHuman: outcome === 'held_for_review' || settled.held,
    changedRefunds: refunds.changed,
    changedMoves: move === null ? [] : [move],
  };
}

const LACKS_AMOUNT = 'The gateway shows a captured payment without an amount or a currency.';

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
  { input, order, known }: PaymentStep,
  status: PaymentStatus,
  capture: { amount: bigint; currency: string } | null,
  otherMode: boolean,
): CaptureDecision | null {
  if (status !== 'captured' || capture === null) return null;
  // Held for a reason that only a person can lift: looking again does not decide it anew.
  const held = known?.outcome === 'held_for_review' && order !== null && known.orderId === order.id;
  if (held && (otherMode || order.currency !== capture.currency))
    return { action: 'nothing', outcome: 'held_for_review' };
  if (held && (order.status === 'cancelled' || order.status === 'expired') && input.policies.lateCapture === 'review') {
    return { action: 'nothing', outcome: 'held_for_review' };
  }
  return decideCapture({
    order,
    capture,
    counted: known?.counted != null,
    automaticRefund: known?.automaticRefund ?? null,
    lateCapture: input.policies.lateCapture,
    otherMode,
  });
}

/** Carries out what was decided about captured money; where no order is known it has been put before a person already. */
async function applyDecision(
  tx: PoolClient,
  { input, sorted, order, known }: PaymentStep,
  decision: CaptureDecision,
  captured: { readonly amount: bigint; readonly currency: string },
): Promise<LockedOrder | null> {
  if (order === null) return null;
  const { source, paymentId, policies } = input;
  const winner = sorted.claimants[0];
  const applied = await applyCapture(tx, decision, {
    ...{ source, paymentId, order, cause: winner?.cause ?? 'look', ...captured },
    eventId: winner?.event?.eventId ?? null,
    pointsPerMajorUnit: policies.loyaltyPointsPerMajorUnit,
    alreadyPosted: known?.outcome === 'held_for_review' && known.amount !== null,
    alreadyRefunded: known?.amountRefunded ?? 0n,
  });
  if (decision.action !== 'nothing' && decision.action !== 'hold') {
    // What the payment was held for is there now: its order, or its amount; or the policy changed.
    const reasons = ['unmatched_payment', 'event_unreadable', 'late_capture', 'wrong_currency', 'order_not_payable'];
    await recoverDeadLetters(
      tx,
      reasons.map((kind) => deadLetterId(kind, source, paymentId)),
    );
  }
  return applied;
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
  { input, known }: PaymentStep,
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

function least(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.min(a, b);
}
