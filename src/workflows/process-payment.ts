import type { SignalDefinition } from '@temporalio/common';
import {
  allHandlersFinished,
  ApplicationFailure,
  condition,
  continueAsNew,
  currentUpdateInfo,
  getExternalWorkflowHandle,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { SettledPayment } from '../activities/settle-payment.ts';
import { outcomeForOthers } from '../domain/decide-capture.ts';
import { parsePaymentWorkflowId, refundWorkflowId } from '../domain/keys.ts';
import type { PaymentOutcome } from '../domain/payment-outcome.ts';
import { handleDecisions } from './handle-decisions.ts';
import { handleUnknownSignals } from './handle-unknown-signals.ts';
import {
  captureMessages,
  chargeMessages,
  confirmPaymentUpdate,
  paymentEventSignal,
  paymentStateQuery,
  refundMessages,
  topUpMessages,
  voidMessages,
} from './messages.ts';
import { quickly } from './quickly.ts';
import { createTellPeople } from './tell-people.ts';
import { stepsInTasksOfTheirOwn } from './versions.ts';

/**
 * The mutex of one payment (B1): works through its events one wake at a time, and is the only one that applies the
 * gateway's facts to it. A signal is a wake-up and its event id a hint: each look takes all that wait in PostgreSQL. A
 * run ends when nothing waits; a later event starts a fresh one, which knows everything from PostgreSQL.
 */
export async function processPayment(): Promise<PaymentOutcome | null> {
  const payment = parsePaymentWorkflowId(workflowInfo().workflowId);
  if (payment === null) {
    throw ApplicationFailure.nonRetryable(
      `The id of this run, ${workflowInfo().workflowId}, is not payment:{source}:{payment_id}: start it by that id.`,
    );
  }
  let wakes = 0;
  let callers: string[] = [];
  const answers = new Map<string, PaymentOutcome>();
  let settled: SettledPayment | null = null;
  let answersInHand = false;
  const tellPeople = createTellPeople();

  setHandler(paymentEventSignal, () => {
    wakes += 1;
  });
  setHandler(paymentStateQuery, () => ({
    status: settled?.status ?? null,
    outcome: settled?.outcome ?? null,
    order_id: settled?.orderId ?? null,
    pending_events: settled?.pendingEvents ?? 0,
    waiting_for: settled?.waitingFor ?? null,
  }));
  setHandler(confirmPaymentUpdate, async () => {
    // An update's id is the caller's own, and unique within a run.
    const caller = `confirm:${workflowInfo().runId}:${currentUpdateInfo()?.id ?? ''}`;
    callers.push(caller);
    wakes += 1;
    await condition(() => answers.has(caller));
    const outcome = answers.get(caller) ?? 'pending';
    answers.delete(caller);
    return { outcome };
  });

  handleDecisions(() => {
    wakes += 1;
    answersInHand = true;
  });

  handleUnknownSignals();

  /** What comes meanwhile waits for the next look; who asks hears at once what is known. */
  async function keepQuiet({ outcome }: SettledPayment, ms: number): Promise<void> {
    for (const until = Date.now() + ms; Date.now() < until;) {
      await condition(() => callers.length > 0, until - Date.now());
      for (const caller of callers) answers.set(caller, outcome === null ? 'pending' : outcomeForOthers(outcome));
      callers = [];
    }
  }

  // A handler may have been set off by the very task that started the run: let it be heard before the first look.
  await condition(() => wakes > 0, '100ms');
  let timerFired = wakes === 0;
  for (;;) {
    const asking = callers;
    callers = [];
    wakes = 0;
    const look = asking.length > 0 || timerFired;
    const seen: SettledPayment | null = await quickly((activities) =>
      activities.settlePayment({ ...payment, callers: asking, look, at: Date.now() }),
    );
    if (seen !== null) {
      settled = seen;
      answersInHand ||= asking.length > 0;
      for (const caller of asking) answers.set(caller, seen.callerOutcomes[caller] ?? 'pending');
      tellPeople(whatPeopleSee(payment, seen));
      await tellMoves(seen);
      if (seen.quietMs !== undefined) await keepQuiet(seen, seen.quietMs);
      if (seen.more) {
        wakes += 1;
        // One local activity after the other keeps the task open, and nobody else is heard for up to eight seconds.
        if (stepsInTasksOfTheirOwn()) await sleep(1);
      }
    }
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      if (callers.length === 0) await continueAsNew<typeof processPayment>();
    }
    timerFired = false;
    if (wakes > 0) continue;
    const nextLookMs = settled?.nextLookMs ?? null;
    if (nextLookMs !== null) {
      timerFired = !(await condition(() => wakes > 0, Math.max(1, nextLookMs - (settled?.quietMs ?? 0))));
      continue;
    }
    // What arrives while the last handlers finish is looked at before the run ends.
    await condition(() => allHandlersFinished() || wakes > 0);
    if (wakes > 0) continue;
    if (!answersInHand) return settled?.outcome ?? null;
    // A signal at the instant of completion fails the task, and with it the answers that it carries: they leave first.
    answersInHand = false;
    await sleep(1);
  }
}

/** Those whose workflows are gone have nothing to hear: PostgreSQL has it already. */
async function tellMoves({ changedRefunds, changedMoves }: SettledPayment): Promise<void> {
  for (const id of [...changedRefunds.map(refundWorkflowId), ...changedMoves]) {
    const changed = changedSignalOf(id);
    if (changed === null) continue;
    await getExternalWorkflowHandle(id)
      .signal(changed)
      .catch(() => undefined);
  }
}

function changedSignalOf(workflowId: string): SignalDefinition<[]> | null {
  if (workflowId.startsWith('refund:')) return refundMessages.changed;
  if (workflowId.startsWith('charge:')) return chargeMessages.changed;
  if (workflowId.startsWith('capture:')) return captureMessages.changed;
  if (workflowId.startsWith('void:')) return voidMessages.changed;
  return workflowId.startsWith('top_up:') ? topUpMessages.changed : null;
}

function whatPeopleSee(payment: { source: string; paymentId: string }, seen: SettledPayment) {
  const order = seen.orderId === null ? 'no order yet' : `order ${seen.orderId}`;
  const waiting =
    seen.waitingFor === 'order'
      ? ' Waiting for its order to be created.'
      : seen.waitingFor === 'gateway'
        ? ' Waiting for the gateway to show what its event claims.'
        : '';
  const human = seen.needsHuman ? ' **A person must decide: see the dead letters.**' : '';
  return {
    status: seen.outcome ?? seen.waitingFor ?? 'pending',
    orderId: seen.orderId,
    needsHuman: seen.needsHuman,
    details: `Payment ${payment.paymentId} of ${payment.source} for ${order}: ${seen.status ?? 'not known at the gateway'}, ${seen.outcome ?? 'no outcome yet'}.${waiting}${human}`,
  };
}
