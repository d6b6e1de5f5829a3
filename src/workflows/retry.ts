import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import type { PlannedDelivery } from '../activities/plan-deliveries.ts';
import { DELIVERY_TASK_QUEUE, GATEWAY_TASK_QUEUE } from './messages.ts';

/**
 * The retry policies, all of them (F4). The delays between attempts come from the activity interceptor with full jitter; the
 * intervals here hold for timeouts, which no interceptor sees.
 */

/**
 * Short steps in PostgreSQL and reads of a gateway. A local activity costs no round trip to the server; it keeps the workflow
 * task open, so that it may take 2 s and be tried twice, no more.
 */
export const QUICK: LocalActivityOptions = {
  startToCloseTimeout: '2s',
  retry: { maximumAttempts: 2, initialInterval: '50ms', maximumInterval: '50ms' },
};

/** A worker that dies is noticed by this, long before the attempt's own time is over; it is a few missed beats. */
const HEARTBEAT_TIMEOUT = '10s';

/** What a quick step goes on as when it failed: visible in the UI, and repeated until it is done. */
export const PATIENT: ActivityOptions = {
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  // A gateway's own time limit is 10 s, and a look may ask it for a payment and for pages of refunds.
  startToCloseTimeout: '45s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
};

/** The audit reads the whole database: minutes, on a large one. The next run is an hour away, and does no less. */
export const AUDIT: ActivityOptions = {
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  startToCloseTimeout: '50m',
  retry: { initialInterval: '10s', backoffCoefficient: 2, maximumInterval: '1m', maximumAttempts: 5 },
};

/** Telling people: some minutes of attempts, after which the workflow takes a longer breath and sees anew what is to be said. */
export const ALERTS: ActivityOptions = {
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  // A mail or a POST has 20 s.
  startToCloseTimeout: '45s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m', maximumAttempts: 10 },
};

/** Calls that move money: after these attempts, some minutes in all, a human is told (F5). */
export const MONEY: ActivityOptions = {
  taskQueue: GATEWAY_TASK_QUEUE,
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  startToCloseTimeout: '45s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m', maximumAttempts: 10 },
};

/** Past an attempt's own time: the claim before it and the record after it are short statements. */
const AROUND_AN_ATTEMPT_MS = 10_000;

/** What a consumer asks for: how often and for how long it is told before a person is asked (F5). */
export function deliveryOptions(retry: PlannedDelivery['retry']): ActivityOptions {
  return {
    taskQueue: DELIVERY_TASK_QUEUE,
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    startToCloseTimeout: retry.timeoutMs + AROUND_AN_ATTEMPT_MS,
    retry: {
      initialInterval: retry.initialIntervalMs,
      backoffCoefficient: 2,
      maximumInterval: retry.maximumIntervalMs,
      maximumAttempts: retry.maximumAttempts,
    },
  };
}
