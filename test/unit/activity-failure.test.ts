import { describe, expect, it } from 'vitest';
import { toActivityFailure } from '../../src/activities/failures.ts';
import { GatewayError } from '../../src/domain/gateway-error.ts';

const HOUR_MS = 3_600_000;
const busy = (retryAfterMs: number) =>
  new GatewayError('sim answered 429.', { kind: 'temporary', code: 'http_429', retryAfterMs });

describe('the delay before an activity is tried again', () => {
  it.each([
    [7_000, 7_000],
    [HOUR_MS, HOUR_MS],
    // A person hears of it within the day, however patient the gateway wants us.
    [24 * HOUR_MS, HOUR_MS],
  ])('is what the gateway asks for, %i ms, up to an hour', (asked, delay) => {
    const failure = toActivityFailure(busy(asked), { attempt: 1, isLocal: false, random: 0.5 });
    expect(failure.nextRetryDelay).toBe(delay);
  });

  it('is next to nothing for a local one, whatever the gateway asks for: the ordinary one that follows waits', () => {
    const failure = toActivityFailure(busy(24 * HOUR_MS), { attempt: 1, isLocal: true, random: 0.99 });
    expect(failure.nextRetryDelay).toBeLessThanOrEqual(50);
  });
});
