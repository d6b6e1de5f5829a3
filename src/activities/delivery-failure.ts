import { ApplicationFailure } from '@temporalio/common';
import type { ConsumerRetry } from '../notify/consumer.ts';
import { DeliveryError } from '../notify/delivery-error.ts';

/**
 * A failed attempt as Temporal takes it (F4): its next delay from the consumer's own intervals with full jitter, no earlier
 * than the target asked for. Causes stay behind: they may repeat what a target said about a person (A6).
 *
 * @param options.attempt counted from 1
 * @param options.random from [0, 1)
 */
export function toDeliveryFailure(
  error: unknown,
  { retry, attempt, random }: { readonly retry: ConsumerRetry; readonly attempt: number; readonly random: number },
): ApplicationFailure {
  const { initialIntervalMs, maximumIntervalMs } = retry;
  const cap = Math.min(maximumIntervalMs, initialIntervalMs * 2 ** Math.min(attempt - 1, 30));
  const asked = error instanceof DeliveryError ? (error.retryAfterMs ?? 0) : 0;
  return ApplicationFailure.create({
    type: error instanceof Error ? error.name : 'Error',
    message: deliveryMessage(error),
    nonRetryable: error instanceof DeliveryError && error.final,
    // Temporal takes 0 for "no delay given".
    nextRetryDelay: Math.max(1, asked, Math.floor(random * cap)),
  });
}

/** What may be shown of an error. A consumer promises that its DeliveryErrors hold nothing personal, and only of those. */
export function deliveryMessage(error: unknown): string {
  if (error instanceof DeliveryError) return error.message;
  return `The attempt failed unexpectedly (${error instanceof Error ? error.name : typeof error}); the worker's log has it.`;
}
