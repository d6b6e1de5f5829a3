import type { Context } from '@temporalio/activity';
import { CancelledFailure, CompleteAsyncError } from '@temporalio/activity';
import type { ActivityInboundCallsInterceptor, ActivityInterceptors } from '@temporalio/worker';
import { toActivityFailure } from './failures.ts';

/** The one place that sets the delay before an activity's next attempt (F4). */
export function retryInterceptor(context: Context): ActivityInterceptors {
  const inbound: ActivityInboundCallsInterceptor = {
    async execute(input, next) {
      try {
        return await next(input);
      } catch (error) {
        if (error instanceof CancelledFailure || error instanceof CompleteAsyncError) throw error;
        const { attempt, isLocal } = context.info;
        throw toActivityFailure(error, { attempt, isLocal, random: Math.random() });
      }
    },
  };
  return { inbound };
}
