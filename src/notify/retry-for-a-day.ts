import type { ConsumerRetry } from './consumer.ts';

/**
 * For receivers that come back by themselves: at once at first, since most failures are over within seconds, then every hour at the
 * latest. Delays are drawn from nothing up to the interval, half of it on average, so that 60 attempts last about a day: the
 * longest that a mail server or another service is away before somebody has noticed, and soon enough for a person to be asked.
 */
export const RETRY_FOR_A_DAY: Omit<ConsumerRetry, 'timeoutMs'> = {
  initialIntervalMs: 1_000,
  maximumIntervalMs: 60 * 60_000,
  maximumAttempts: 60,
};
