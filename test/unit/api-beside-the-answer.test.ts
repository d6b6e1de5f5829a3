import { afterEach, describe, expect, it } from 'vitest';
import { createHandOvers } from '../../src/api/receive/hand-overs.ts';
import { createRefusalCounter, type RefusalCounter } from '../../src/api/receive/refusal-counter.ts';
import type { Refusals } from '../../src/database/refusals.ts';
import { createLogger } from '../../src/telemetry/log.ts';

const log = createLogger('silent', 'test');
const event = { source: 'sim', eventId: 'evt_1', paymentId: 'pay_1', orderId: null };

describe('handing over', () => {
  it('waits for nobody, holds a bounded number, and leaves the rest to the relay', async () => {
    const begun: (() => void)[] = [];
    const handOver = () => new Promise<void>((resolve) => begun.push(resolve));
    const handOvers = createHandOvers({ handOver, log }, 2);
    for (let k = 0; k < 5; k += 1) handOvers.start({ ...event, paymentId: `pay_${k}` });
    expect(begun).toHaveLength(2);
    begun.forEach((end) => end());
    await handOvers.idle();
    handOvers.start({ ...event, paymentId: 'pay_9' });
    expect(begun).toHaveLength(3);
  });

  it('gives all events of a payment that come while one is on its way to its next signal, and keeps two apart', async () => {
    const sent: string[][] = [];
    const times: number[] = [];
    const handOver = (handOvers: readonly { readonly eventId: string }[]) => {
      sent.push(handOvers.map(({ eventId }) => eventId));
      times.push(performance.now());
      return Promise.resolve();
    };
    const handOvers = createHandOvers({ handOver, log });
    for (let k = 0; k < 5; k += 1) handOvers.start({ ...event, eventId: `evt_${k}` });
    handOvers.start({ ...event, eventId: 'evt_x', paymentId: 'pay_2' });
    await handOvers.idle();
    expect(sent).toEqual([['evt_0'], ['evt_x'], ['evt_1', 'evt_2', 'evt_3', 'evt_4']]);
    expect((times[2] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(150);
  });

  it('that fails disturbs nobody', async () => {
    const handOvers = createHandOvers({ handOver: () => Promise.reject(new Error('away')), log });
    handOvers.start(event);
    await handOvers.idle();
  });
});

describe('counting refusals', () => {
  let counter: RefusalCounter;
  afterEach(() => counter.stop());

  it('adds up by source, reason and hour, and keeps what could not be written', async () => {
    const saved: (readonly Refusals[])[] = [];
    let away = true;
    counter = createRefusalCounter({
      log,
      save: async (refusals) => {
        if (away) throw new Error('away');
        saved.push(refusals);
      },
    });
    const refusal = { source: 'sim', reason: 'invalid_signature:mismatch', remoteAddress: '10.0.0.1' };
    counter.count({ ...refusal, at: 3_600_000 });
    counter.count({ ...refusal, at: 3_700_000 });
    counter.count({ ...refusal, at: 7_200_000 });
    await counter.flush();
    away = false;
    counter.count({ ...refusal, at: 3_800_000, remoteAddress: '10.0.0.2' });
    await counter.flush();
    await counter.flush();
    expect(saved).toEqual([
      [
        {
          source: 'sim',
          reason: refusal.reason,
          hour: 3_600_000,
          count: 3,
          lastAt: 3_800_000,
          lastRemoteAddress: '10.0.0.2',
        },
        {
          source: 'sim',
          reason: refusal.reason,
          hour: 7_200_000,
          count: 1,
          lastAt: 7_200_000,
          lastRemoteAddress: '10.0.0.1',
        },
      ],
    ]);
  });

  it('stays small whatever comes, while nothing can be written', async () => {
    const saved: Refusals[] = [];
    counter = createRefusalCounter({ log, save: async (refusals) => void saved.push(...refusals) });
    for (let hour = 0; hour < 5_000; hour += 1) {
      counter.count({ source: 'sim', reason: 'r', at: hour * 3_600_000, remoteAddress: null });
    }
    await counter.flush();
    expect(saved).toHaveLength(1_000);
    expect(saved.at(-1)?.hour).toBe(4_999 * 3_600_000);
  });
});
