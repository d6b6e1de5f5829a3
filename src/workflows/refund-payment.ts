import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  proxyActivities,
  rootCause,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { MoneyActivities } from '../activities/index.ts';
import type { RefundProgress } from '../activities/refund-progress.ts';
import { parseRefundWorkflowId } from '../domain/keys.ts';
import { nextPendingLookMs, nextUnknownLookMs } from '../domain/look-schedule.ts';
import type { RefundStatus } from '../domain/refund-states.ts';
import { refundChangedSignal, refundStateQuery } from './messages.ts';
import { quickly } from './quickly.ts';
import { MONEY } from './retry.ts';
import { createTellPeople } from './tell-people.ts';

const money = proxyActivities<MoneyActivities>(MONEY);

/**
 * Carries out one reserved refund, once: places it at the gateway, then waits for the gateway's final word. When the
 * retries are used up it does not die: a human is told, and it goes on looking (F3, F5). A cancellation does not stop
 * it, since the money is owed either way.
 */
export async function refundPayment(): Promise<RefundStatus> {
  return CancellationScope.nonCancellable(run);
}

async function run(): Promise<RefundStatus> {
  const id = parseRefundWorkflowId(workflowInfo().workflowId);
  if (id === null) {
    throw ApplicationFailure.nonRetryable(
      `The id of this run, ${workflowInfo().workflowId}, is not refund:{refund_id}: start it by that id.`,
    );
  }
  let changes = 0;
  let progress: RefundProgress | null = null;
  let looks = 0;
  const tellPeople = createTellPeople();
  setHandler(refundChangedSignal, () => {
    changes += 1;
  });
  setHandler(refundStateQuery, () => ({
    status: progress?.status ?? null,
    amount: progress?.amount ?? null,
    currency: progress?.currency ?? null,
    gateway_refund_id: progress?.gatewayRefundId ?? null,
    waiting_for: waitingFor(progress),
  }));

  for (;;) {
    changes = 0;
    const step: RefundProgress = await nextStep(id, progress);
    if (step.status !== progress?.status) looks = 0;
    progress = step;
    tellPeople({
      status: step.status,
      orderId: step.orderId,
      needsHuman: waitingFor(step) === 'human',
      details: details(id, step),
    });
    if (step.status === 'succeeded' || step.status === 'failed') return step.status;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof refundPayment>();
    if (step.status === 'needs_review') {
      await condition(() => changes > 0);
    } else {
      const wait = step.status === 'unknown' ? nextUnknownLookMs(looks) : nextPendingLookMs(looks);
      looks += 1;
      await condition(() => changes > 0, wait);
    }
  }
}

async function nextStep(id: string, progress: RefundProgress | null): Promise<RefundProgress> {
  if (progress?.status === 'pending' && progress.placed) return quickly((activities) => activities.lookAtRefund(id));
  try {
    return await money.executeRefund(id);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const message = rootCause(error) ?? error.message;
    return quickly((activities) => activities.loseSightOfRefund(id, message));
  }
}

function waitingFor(progress: RefundProgress | null): 'gateway' | 'human' | null {
  switch (progress?.status) {
    case 'pending':
      return 'gateway';
    case 'unknown':
    case 'needs_review':
      return 'human';
    default:
      return null;
  }
}

function details(id: string, progress: RefundProgress): string {
  const about = `Refund ${id} of ${progress.amount} ${progress.currency} (minor units): ${progress.status}.`;
  return progress.lastError === null ? about : `${about} ${progress.lastError}`;
}
