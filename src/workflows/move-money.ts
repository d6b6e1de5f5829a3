import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  rootCause,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { MoneyProgress } from '../activities/money-progress.ts';
import { parseMoneyWorkflowId } from '../domain/keys.ts';
import { nextPendingLookMs, nextUnknownLookMs } from '../domain/look-schedule.ts';
import type { RefundStatus } from '../domain/refund-states.ts';
import { handleDecisions } from './handle-decisions.ts';
import { handleUnknownSignals } from './handle-unknown-signals.ts';
import type { MoneyMessages } from './messages.ts';
import { quickly } from './quickly.ts';
import { createTellPeople } from './tell-people.ts';

/** The one thing in which the kinds of money moves differ: what is called. */
export interface MoneyMoveSteps {
  readonly kind: keyof typeof NAMES;
  readonly messages: MoneyMessages;
  /** One attempt under the retry policy for money: looks first, sends what is surely absent. */
  execute(id: string): Promise<MoneyProgress>;
  /** Asks what became of what the gateway has. */
  look(id: string): Promise<MoneyProgress>;
}

/**
 * Carries out one reserved move of money, once: places it at the gateway, then waits for the gateway's final word. When the
 * retries are used up it does not die: a human is told, and it goes on looking (F3, F5). A cancellation does not stop it,
 * since the money is owed either way.
 */
export function moveMoney(steps: MoneyMoveSteps): Promise<RefundStatus> {
  return CancellationScope.nonCancellable(() => run(steps));
}

async function run(steps: MoneyMoveSteps): Promise<RefundStatus> {
  const { kind, messages } = steps;
  const { workflowId } = workflowInfo();
  const id = parseMoneyWorkflowId(kind, workflowId);
  if (id === null) {
    throw ApplicationFailure.nonRetryable(
      `The id of this run, ${workflowId}, is not ${kind}:{${kind}_id}: start it by that id.`,
    );
  }
  let changes = 0;
  let progress: MoneyProgress | null = null;
  let looks = 0;
  const tellPeople = createTellPeople();
  setHandler(messages.changed, () => {
    changes += 1;
  });
  let answersInHand = false;
  handleDecisions(() => {
    changes += 1;
    answersInHand = true;
  });
  handleUnknownSignals();
  setHandler(messages.state, () => ({
    status: progress?.status ?? null,
    amount: progress?.amount ?? null,
    currency: progress?.currency ?? null,
    [`gateway_${kind}_id`]: progress?.gatewayId ?? null,
    waiting_for: waitingFor(progress),
  }));

  for (;;) {
    const woken = changes > 0;
    changes = 0;
    let step = await nextStep(id, progress);
    // A run that news has started finds everything placed: the news itself is still to be looked at.
    if (woken && progress === null && step.placed) step = await steps.look(id);
    if (step.status !== progress?.status) looks = 0;
    const placedNow = step.placed && progress?.placed !== true;
    progress = step;
    tellPeople({
      status: step.status,
      orderId: step.orderId,
      needsHuman: waitingFor(step) === 'human',
      details: details(kind, id, step),
    });
    if (step.status === 'succeeded' || step.status === 'failed' || step.givenUp) {
      // What changed while this was on its way is looked at before the run ends.
      await condition(allHandlersFinished);
      if (changes > 0) continue;
      if (!answersInHand) return step.status;
      // A signal at the instant of completion fails the task, and with it the answers that it carries: they leave first.
      answersInHand = false;
      await sleep(1);
      continue;
    }
    if (workflowInfo().continueAsNewSuggested) await continueAsNew();
    // What the gateway has just taken may be through already.
    if (placedNow && kind !== 'refund' && kind !== 'payout') continue;
    if (step.status === 'needs_review') {
      await condition(() => changes > 0);
    } else {
      const wait = step.status === 'unknown' ? nextUnknownLookMs(looks) : nextPendingLookMs(looks);
      looks += 1;
      await condition(() => changes > 0, wait);
    }
  }

  async function nextStep(move: string, before: MoneyProgress | null): Promise<MoneyProgress> {
    if (before?.placed === true) return steps.look(move);
    try {
      return await steps.execute(move);
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      const message = rootCause(error) ?? error.message;
      return quickly((activities) => activities.loseSightOfMove(kind, move, message));
    }
  }
}

function waitingFor(progress: MoneyProgress | null): 'gateway' | 'human' | null {
  switch (progress?.status) {
    case 'pending':
      return 'gateway';
    case 'unknown':
    case 'needs_review':
      return progress.givenUp ? null : 'human';
    default:
      return null;
  }
}

const NAMES = {
  refund: 'Refund',
  payout: 'Payout',
  charge: 'Charge of a saved card',
  top_up: 'Top-up',
  capture: 'Capture of',
  void: 'Void of',
} as const;

function details(kind: MoneyMoveSteps['kind'], id: string, progress: MoneyProgress): string {
  const about = `${NAMES[kind]} ${id} of ${progress.amount} ${progress.currency} (minor units): ${progress.status}.`;
  return progress.lastError === null ? about : `${about} ${progress.lastError}`;
}
