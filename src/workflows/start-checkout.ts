import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  proxyActivities,
  rootCause,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { MoneyActivities } from '../activities/index.ts';
import type { CheckoutProgress } from '../activities/prepare-checkout.ts';
import { parseCheckoutWorkflowId } from '../domain/keys.ts';
import { nextUnknownLookMs } from '../domain/look-schedule.ts';
import { checkoutStateQuery } from './messages.ts';
import { handleUnknownSignals } from './handle-unknown-signals.ts';
import { quickly } from './quickly.ts';
import { MONEY } from './retry.ts';
import { createTellPeople } from './tell-people.ts';

const money = proxyActivities<MoneyActivities>(MONEY);

/** Has a gateway prepare the n-th payment of an order, once. No money moves by this alone, and the order stays payable. */
export async function startCheckout(): Promise<CheckoutProgress['status']> {
  return CancellationScope.nonCancellable(run);
}

async function run(): Promise<CheckoutProgress['status']> {
  const checkout = parseCheckoutWorkflowId(workflowInfo().workflowId);
  if (checkout === null) {
    throw ApplicationFailure.nonRetryable(
      `The id of this run, ${workflowInfo().workflowId}, is not checkout:{order_id}:{n}: start it by that id.`,
    );
  }
  handleUnknownSignals();
  const { orderId, n } = checkout;
  const tellPeople = createTellPeople();
  let progress: CheckoutProgress = { status: 'pending', paymentId: null, lastError: null };
  setHandler(checkoutStateQuery, () => ({ status: progress.status, payment_id: progress.paymentId }));
  for (let looks = 0; ; looks += 1) {
    try {
      progress = await money.prepareCheckout(orderId, n);
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      const message = rootCause(error) ?? error.message;
      await quickly((activities) => activities.loseSightOfCheckout(orderId, n, message));
      progress = { status: 'unknown', paymentId: null, lastError: message };
    }
    const { status, lastError } = progress;
    tellPeople({
      status,
      orderId,
      needsHuman: false,
      details: `Checkout ${n} of order ${orderId}: ${status}.${lastError === null ? '' : ` ${lastError}`}`,
    });
    if (status !== 'unknown') {
      await condition(allHandlersFinished);
      return status;
    }
    await sleep(nextUnknownLookMs(looks));
  }
}
