import { ApplicationFailure } from '@temporalio/common';
import { GatewayError } from '../domain/gateway-error.ts';

/** Half of all incidents are over within seconds; the other half should not be hammered. */
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 60_000;
/**
 * Asking once an hour does no gateway harm, whatever it said; and ten attempts so far apart are over within the day, so that a
 * person hears of it.
 */
const LONGEST_RETRY_AFTER_MS = 60 * 60 * 1000;
/** A local activity never waits out a back-off: its second and last try comes almost at once. */
const LOCAL_DELAY_MS = 50;

export interface FailedAttempt {
  /** Counted from 1. */
  readonly attempt: number;
  readonly isLocal: boolean;
  /** From [0, 1). */
  readonly random: number;
}

/**
 * Our errors as Temporal failures (F4): every one retryable unless it says otherwise, with its cause, and with full jitter as the
 * delay of the next attempt. A gateway's Retry-After wins over the jitter, except for a local activity, which waits for nothing: it goes
 * on as an ordinary one, and that waits.
 */
export function toActivityFailure(error: unknown, { attempt, isLocal, random }: FailedAttempt): ApplicationFailure {
  if (error instanceof ApplicationFailure && (error.nonRetryable || error.nextRetryDelay !== undefined)) return error;
  const cause = error instanceof Error ? error : new Error(String(error));
  const cap = isLocal ? LOCAL_DELAY_MS : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(attempt - 1, 20));
  const retryAfterMs = error instanceof GatewayError && !isLocal ? error.retryAfterMs : null;
  return ApplicationFailure.create({
    type: (error instanceof ApplicationFailure ? error.type : null) ?? cause.name,
    message: cause.message,
    cause,
    // Temporal takes 0 for "no delay given".
    nextRetryDelay: Math.max(1, Math.min(retryAfterMs ?? Math.floor(random * cap), LONGEST_RETRY_AFTER_MS)),
  });
}
