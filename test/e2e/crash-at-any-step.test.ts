import { afterAll, beforeAll, expect, it } from 'vitest';
import { openCrashWorld, type CrashWorld } from '../support/crash/crash-world.ts';
import { dice } from '../support/crash/dice.ts';
import { runPoints, type CrashPoint } from '../support/crash/run-points.ts';
import { CRASH_SCENARIOS } from '../support/crash/scenarios/index.ts';

/** Draws other steps each day; CRASH_SEED plays a day again. `npm run crashes` goes through all of them. */
const SEED = Number(process.env['CRASH_SEED'] ?? Math.floor(Date.now() / 86_400_000));
/** Each asks for a run without a death first, to see its steps. */
const DRAWN_SCENARIOS = 5;
const DRAWN_STEPS = 2;

/** Where most is at stake, in every run. */
const ALWAYS: readonly CrashPoint[] = [
  // The gateway has done it, and we have not written it down.
  { scenario: 'refundPayment', at: 'after gateway POST /refunds' },
  { scenario: 'POST /v1/refunds', at: 'after sql commit' },
  { scenario: 'payOutSeller', at: 'after gateway POST /payouts' },
  { scenario: 'POST /v1/payouts', at: 'before temporal start' },
  { scenario: 'chargeSavedCard', at: 'after gateway POST /charges' },
  // Everything is committed, and nobody was told: neither the caller nor Temporal.
  { scenario: 'POST /v1/orders', at: 'after sql commit' },
  { scenario: 'startCheckout', at: 'after gateway POST /payments' },
  { scenario: 'webhook receiver', at: 'before temporal signalWithStart' },
  // Written down as sent, and not sent.
  { scenario: 'topUpWallet', at: 'before gateway POST /charges' },
  { scenario: 'POST /v1/dead-letters/…/decide', at: 'after sql commit' },
  { scenario: 'processPayment pays an order', at: 'after sql commit' },
  // Claimed by the relay, and not started.
  { scenario: 'processPayment finds an extra capture, refundPayment gives it back', at: 'before temporal start' },
];

let world: CrashWorld;
beforeAll(async () => {
  world = await openCrashWorld();
});
afterAll(() => world.close());

it(`a process that is killed at a step leaves one effect, the true answer and clean books (seed ${SEED})`, async () => {
  const roll = dice(SEED);
  const names = Object.keys(CRASH_SCENARIOS);
  const drawn = Array.from(
    { length: DRAWN_SCENARIOS },
    () => names.splice(Math.floor(roll() * names.length), 1)[0] ?? '',
  );
  const seen = await runPoints(
    world,
    drawn.map((scenario) => ({ scenario, at: null })),
  );
  expect(seen.filter(({ failure }) => failure !== null)).toEqual([]);
  const points = seen.flatMap(({ scenario, steps }) =>
    Array.from({ length: DRAWN_STEPS }, () => ({ scenario, at: 1 + Math.floor(roll() * steps.length) })),
  );
  const results = await runPoints(world, [...ALWAYS, ...points]);
  expect(results.filter(({ failure }) => failure !== null)).toEqual([]);
  expect(results.slice(0, ALWAYS.length).filter(({ died }) => !died)).toEqual([]);
}, 600_000);
