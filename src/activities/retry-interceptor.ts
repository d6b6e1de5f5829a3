import type { Context } from '@temporalio/activity';
import { CancelledFailure, CompleteAsyncError } from '@temporalio/activity';
import type { ActivityInboundCallsInterceptor, ActivityInterceptors } from '@temporalio/worker';
import { toActivityFailure } from './failures.ts';

/** Well within the heartbeat timeout of the workflows' activity options. */
const HEARTBEAT_EVERY_MS = 2_000;

/** The one place that sets the delay before an activity's next attempt (F4), and that keeps a living attempt known as alive. */
export function retryInterceptor(context: Context): ActivityInterceptors {
  const inbound: ActivityInboundCallsInterceptor = {
    async execute(input, next) {
      // Local activities answer within their workflow task and have no heartbeat.
      const pulse = context.info.isLocal ? undefined : setInterval(() => context.heartbeat(), HEARTBEAT_EVERY_MS);
      try {
        return await next(input);
      } catch (error) {
        if (error instanceof CancelledFailure || error instanceof CompleteAsyncError) throw error;
        const { attempt, isLocal } = context.info;
        throw toActivityFailure(error, { attempt, isLocal, random: Math.random() });
      } finally {
        clearInterval(pulse);
      }
    },
  };
  return { inbound };
}
