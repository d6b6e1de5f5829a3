import { expect, it } from 'vitest';
import { openCrashWorld } from '../support/crash/crash-world.ts';
import { runPoints } from '../support/crash/run-points.ts';
import { CRASH_SCENARIOS } from '../support/crash/scenarios/index.ts';

it('dry', async () => {
  const t0 = Date.now();
  const world = await openCrashWorld();
  console.log('open', Date.now() - t0);
  const only = process.env['ONLY'];
  const results = await runPoints(
    world,
    Object.keys(CRASH_SCENARIOS).filter((n) => only === undefined || n.includes(only)).map((scenario) => ({ scenario, at: null })),
    (p, w) => console.log(Date.now() - t0, p.scenario, w),
  );
  for (const r of results) {
    console.log(r.scenario, r.steps.length, r.failure);
    for (const s of r.steps) console.log('    ', s);
  }
  console.log('total', Date.now() - t0);
  expect(results.filter((r) => r.failure !== null)).toEqual([]);
}, 600_000);
