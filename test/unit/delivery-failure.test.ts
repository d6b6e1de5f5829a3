import { describe, expect, it } from 'vitest';
import { toDeliveryFailure } from '../../src/activities/delivery-failure.ts';
import type { ConsumerRetry } from '../../src/notify/consumer.ts';
import { createWebhookConsumer } from '../../src/notify/consumers/webhook.ts';
import { DeliveryError } from '../../src/notify/delivery-error.ts';

const retry: ConsumerRetry = {
  ...{ initialIntervalMs: 2_000, maximumIntervalMs: 60_000, maximumAttempts: 30, timeoutMs: 1_000 },
};
const delayOf = (error: Error, attempt: number, random: number) =>
  toDeliveryFailure(error, { retry, attempt, random }).nextRetryDelay;

describe('the next try of a delivery', () => {
  const refused = new DeliveryError('The endpoint answered 500.');

  it('comes after a delay with full jitter, which doubles up to the longest', () => {
    expect([1, 2, 3, 10, 1_000].map((attempt) => delayOf(refused, attempt, 0.5))).toEqual([
      ...[1_000, 2_000, 4_000, 30_000, 30_000],
    ]);
    expect(delayOf(refused, 5, 0)).toBe(1);
  });

  it('comes no earlier than the target asks for', () => {
    const busy = new DeliveryError('The endpoint answered 503.', { retryAfterMs: 7_000 });
    expect(delayOf(busy, 1, 0.99)).toBe(7_000);
    // A target that asks for nothing at all is still not hammered.
    expect(delayOf(new DeliveryError('x', { retryAfterMs: 0 }), 10, 0.5)).toBe(30_000);
  });

  it('does not come where trying again cannot help', () => {
    const gone = new DeliveryError('The endpoint answered 410.', { final: true });
    expect(toDeliveryFailure(gone, { retry, attempt: 1, random: 0.5 }).nonRetryable).toBe(true);
    expect(toDeliveryFailure(refused, { retry, attempt: 1, random: 0.5 }).nonRetryable).toBe(false);
  });

  it('of a webhook comes within 2 s the first time, and they go on for about two days', () => {
    const guard = { resolve: () => Promise.reject(new Error('not asked')) };
    const policy = createWebhookConsumer({ guard, readEndpoint: () => Promise.resolve(null) }).retry;
    expect(policy.initialIntervalMs).toBe(2_000);
    let averageMs = 0;
    for (let attempt = 1; attempt < policy.maximumAttempts; attempt += 1)
      averageMs += toDeliveryFailure(refused, { retry: policy, attempt, random: 0.5 }).nextRetryDelay as number;
    expect(averageMs / 3_600_000).toBeGreaterThan(40);
    expect(averageMs / 3_600_000).toBeLessThan(60);
  });
});

it('a failure leaves its cause behind, and what was not meant for people', () => {
  const failure = toDeliveryFailure(new DeliveryError('It said no.', { cause: new Error('ada@example.org') }), {
    ...{ retry, attempt: 1, random: 0 },
  });
  expect(failure.cause).toBeUndefined();
  const unforeseen = toDeliveryFailure(new RangeError('ada@example.org'), { retry, attempt: 1, random: 0 });
  expect(unforeseen.message).not.toContain('ada');
  expect(unforeseen).toMatchObject({ type: 'RangeError' });
});
