import { allHandlersFinished, ApplicationFailure, condition, sleep, workflowInfo } from '@temporalio/workflow';
import type { OrderStatus } from '../domain/order-states.ts';
import { parseOrderWorkflowId } from '../domain/keys.ts';
import { handleUnknownSignals } from './handle-unknown-signals.ts';
import { quickly } from './quickly.ts';
import { createTellPeople } from './tell-people.ts';

/** Lets an unpaid order expire at its time (B6); the time itself stands in PostgreSQL and is read again after every wait. */
export async function expireOrder(): Promise<OrderStatus | null> {
  const orderId = parseOrderWorkflowId(workflowInfo().workflowId);
  if (orderId === null) {
    throw ApplicationFailure.nonRetryable(
      `The id of this run, ${workflowInfo().workflowId}, is not order:{order_id}: start it by that id.`,
    );
  }
  handleUnknownSignals();
  const tellPeople = createTellPeople();
  for (;;) {
    const expiry = await quickly((activities) => activities.expireOrder(orderId, Date.now()));
    tellPeople({
      status: expiry.status ?? 'unknown',
      orderId,
      needsHuman: false,
      details: `Order ${orderId}: ${expiry.status ?? 'not found'}${expiry.dueInMs === null ? '' : ', waiting for its time to expire'}.`,
    });
    if (expiry.dueInMs === null) {
      await condition(allHandlersFinished);
      return expiry.status;
    }
    await sleep(Math.max(1, expiry.dueInMs));
  }
}
