import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  nextGatewayLookMs,
  nextOrderLookMs,
  nextPendingLookMs,
  nextUnknownLookMs,
} from '../../src/domain/look-schedule.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const first = <T>(count: number, next: (looksDone: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => next(i));

describe('an event that claims more than the gateway shows', () => {
  it('is looked at again after 5 s, 30 s, 5 min and 1 h, and then goes before a person', () => {
    expect(first(6, nextGatewayLookMs)).toEqual([5 * SECOND, 30 * SECOND, 5 * MINUTE, HOUR, null, null]);
  });
});

/** The waits of an event whose order never comes, when every look happens at its time. */
function orderLooks(orderWaitMs: number): number[] {
  const waits: number[] = [];
  let waited = 0;
  for (;;) {
    const next = nextOrderLookMs(waits.length, waited, orderWaitMs);
    if (next === null) return waits;
    waits.push(next);
    waited += next;
  }
}

describe('an event before its order', () => {
  it('is looked at after 5 s, 30 s, 5 min, then hourly, and once more when the wait is over', () => {
    const waits = orderLooks(DAY);
    expect(waits.slice(0, 5)).toEqual([5 * SECOND, 30 * SECOND, 5 * MINUTE, HOUR, HOUR]);
    expect(waits.slice(3, -1).every((wait) => wait === HOUR)).toBe(true);
    expect(waits.at(-1)).toBe(DAY - (5 * SECOND + 30 * SECOND + 5 * MINUTE + 23 * HOUR));
  });

  it('waits exactly as long as is configured, with intervals that grow until the last', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 7 * DAY }), (orderWaitMs) => {
        const waits = orderLooks(orderWaitMs);
        expect(waits.reduce((sum, wait) => sum + wait, 0)).toBe(orderWaitMs);
        for (const [i, wait] of waits.slice(0, -1).entries()) {
          expect(wait).toBeGreaterThanOrEqual(waits[i - 1] ?? 0);
        }
      }),
    );
  });

  it('never waits for nothing, and goes before a person once the wait is over, however often it was looked at', () => {
    fc.assert(
      fc.property(fc.nat(1_000), fc.nat(2 * DAY), fc.nat(2 * DAY), (looksDone, waited, orderWaitMs) => {
        const next = nextOrderLookMs(looksDone, waited, orderWaitMs);
        if (waited >= orderWaitMs) expect(next).toBeNull();
        else {
          expect(next).toBeGreaterThan(0);
          expect(waited + (next ?? Infinity)).toBeLessThanOrEqual(orderWaitMs);
        }
      }),
    );
  });
});

describe('a call whose outcome nobody knows', () => {
  it('is looked for after 5 min and 1 h, then daily, without end', () => {
    expect(first(4, nextUnknownLookMs)).toEqual([5 * MINUTE, HOUR, DAY, DAY]);
    expect(nextUnknownLookMs(10_000)).toBe(DAY);
  });
});

describe('a refund that the gateway calls pending', () => {
  it('is asked about after 30 s, 5 min and 1 h, then daily, without end', () => {
    expect(first(5, nextPendingLookMs)).toEqual([30 * SECOND, 5 * MINUTE, HOUR, DAY, DAY]);
    expect(nextPendingLookMs(10_000)).toBe(DAY);
  });
});
