import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Alert,
  type AlertWork,
  pacedUntilAfter,
  planAlerts,
  type ToldAlert,
} from '../../src/domain/plan-alerts.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const REMIND = 4 * HOUR;
const NOW = Date.parse('2026-11-30T09:42:00Z');

const alert = (id: number): Alert => ({ id: String(id), kind: 'outcome_unknown', subject: {} });
const told = (id: number, lastToldAt: number, reminders = 0): ToldAlert => ({ ...alert(id), lastToldAt, reminders });
const work = (some: Partial<AlertWork> = {}): AlertWork => ({
  ...{ untold: [], told: [], recovered: [], pacedUntil: 0 },
  ...some,
});
const ids = (alerts: readonly Alert[] | undefined) => alerts?.map(({ id }) => id);

describe('people', () => {
  it('are told at once of what is new, and nothing is left to do where nothing is open', () => {
    expect(planAlerts(work({ untold: [alert(1)] }), NOW, REMIND)).toEqual({
      message: { type: 'raised', alerts: [alert(1)] },
      nextLookMs: 0,
      paced: false,
    });
    expect(planAlerts(work(), NOW, REMIND)).toEqual({ message: null, nextLookMs: null, paced: false });
  });

  it('are reminded once after the time that was set, then daily', () => {
    const first = [told(1, NOW - REMIND)];
    expect(planAlerts(work({ told: first }), NOW - 1, REMIND)).toMatchObject({ message: null, nextLookMs: 1 });
    expect(planAlerts(work({ told: first }), NOW, REMIND).message?.type).toBe('reminder');
    const second = [told(1, NOW, 1)];
    expect(planAlerts(work({ told: second }), NOW + 23 * HOUR, REMIND)).toMatchObject({
      message: null,
      nextLookMs: HOUR,
    });
    expect(planAlerts(work({ told: second }), NOW + 24 * HOUR, REMIND).message?.type).toBe('reminder');
  });

  it('get one reminder for what is due and what will be soon, not one for each', () => {
    const waiting = [told(1, NOW - REMIND), told(2, NOW - REMIND + HOUR), told(3, NOW - REMIND + 2 * HOUR)];
    expect(ids(planAlerts(work({ told: waiting }), NOW, REMIND).message?.alerts)).toEqual(['1', '2']);
  });

  it('hear new trouble first, then what came right, then reminders', () => {
    const all = work({ untold: [alert(1)], recovered: [alert(2)], told: [told(3, 0)] });
    expect(planAlerts(all, NOW, REMIND).message?.type).toBe('raised');
    expect(planAlerts({ ...all, untold: [] }, NOW, REMIND).message?.type).toBe('recovered');
    expect(planAlerts({ ...all, untold: [], recovered: [] }, NOW, REMIND).message?.type).toBe('reminder');
  });

  it('get five messages at once in a flood and then one a minute, and each trouble stands in exactly one', () => {
    const arrivals = fc.array(fc.integer({ min: 0, max: 5 * MINUTE }), { minLength: 1, maxLength: 100 });
    fc.assert(
      fc.property(arrivals, (times) => {
        const coming = times.sort((a, b) => a - b).map((time, n) => ({ time: NOW + time, alert: alert(n) }));
        const sent: { at: number; ids: string[] }[] = [];
        let told = 0;
        let pacedUntil = 0;
        let at = NOW;
        while (told < coming.length) {
          const untold = coming.filter(({ time }) => time <= at).slice(told);
          const next = coming[told]?.time ?? at;
          const plan = planAlerts(work({ untold: untold.map((one) => one.alert), pacedUntil }), at, REMIND);
          if (plan.message === null) at = plan.paced ? at + (plan.nextLookMs ?? 0) : next;
          else {
            sent.push({ at, ids: plan.message.alerts.map(({ id }) => id) });
            told += plan.message.alerts.length;
            pacedUntil = pacedUntilAfter(pacedUntil, at);
          }
        }
        expect(sent.flatMap((message) => message.ids)).toEqual(coming.map((one) => one.alert.id));
        for (const { at: start } of sent) {
          const within = sent.filter((message) => message.at >= start && message.at < start + MINUTE);
          expect(within.length).toBeLessThanOrEqual(5);
        }
        // Five minutes of flood: five at once, and one for each minute.
        expect(sent.length).toBeLessThanOrEqual(11);
      }),
      // A smaller flood says no more, and looking for one takes minutes.
      { numRuns: 50, endOnFailure: true },
    );
  });
});
