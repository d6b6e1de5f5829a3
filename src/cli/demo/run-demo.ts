import { runAudit } from '../../database/audit.ts';
import type { Pool } from '../../database/pool.ts';
import { readStormArrivals } from '../../database/read-storm.ts';
import { DEFAULT_POLICIES } from '../../domain/policies.ts';
import type { DevFile } from '../settings.ts';
import { awaitSettled, type Settled } from './await-settled.ts';
import { driveStorm, type Driven } from './drive-storm.ts';
import { expectStorm, type Outcome } from './expect-storm.ts';
import { createGatewayControls, type GatewayControls } from './gateway-controls.ts';
import { planStorm, type Storm } from './plan-storm.ts';
import type { Progress } from '../progress.ts';
import { isAsExpected, ourOutcome, stormFigures, type DemoReport } from './report.ts';
import { runNaive } from './run-naive.ts';
import { stormFaults } from './storm-faults.ts';

export interface DemoOptions {
  readonly stack: DevFile;
  readonly pool: Pool;
  readonly run: string;
  readonly seed: number;
  readonly orders: number;
  readonly progress: Progress;
  /** Points for a major unit, by the merchant's policy. */
  readonly loyaltyPointsPerMajorUnit?: number;
}

/** Plans a storm, lets it happen to paidonce and then to the naive handler, and compares both with what should have come of it. */
export async function runDemo({
  stack,
  pool,
  run,
  seed,
  orders,
  progress,
  ...options
}: DemoOptions): Promise<DemoReport> {
  const rate = options.loyaltyPointsPerMajorUnit ?? DEFAULT_POLICIES.loyaltyPointsPerMajorUnit;
  const storm = planStorm({ run, seed, count: orders });
  const expected = expectStorm(storm, rate);
  const gateway = createGatewayControls(stack.simulator_url);
  const began = Date.now();
  const { driven, settled } = await inBadWeather(gateway, seed, () =>
    happen(storm, stack, gateway, pool, expected.refunds, progress),
  );
  const seconds = Math.round((Date.now() - began) / 1_000);

  const naive = await compareNaive(storm, stack, pool, progress);
  const paidonce = ourOutcome(storm, settled);
  const audit = await runAudit(pool, { loyaltyPointsPerMajorUnit: rate });
  return {
    ...{ run, seed, seconds, expected, paidonce, naive, audit },
    ok: isAsExpected(paidonce, expected) && audit.ok,
    storm: stormFigures(settled, driven),
    confirmed: driven.confirmed,
  };
}

/** The comparison is a showcase: where it breaks down, what came of paidonce is told all the same. */
async function compareNaive(storm: Storm, stack: DevFile, pool: Pool, progress: Progress): Promise<Outcome | null> {
  const arrivals = await readStormArrivals(pool, idsOf(storm));
  const settings = { databaseUrl: stack.database_url, webhookSecret: stack.sources.sim.webhook_secret };
  progress.begin('The same to the naive handler', arrivals.length);
  try {
    return await runNaive(storm, arrivals, settings, progress.at);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`The naive handler cannot be compared: ${reason}\n`);
    return null;
  } finally {
    progress.end();
  }
}

async function happen(
  storm: Storm,
  stack: DevFile,
  gateway: GatewayControls,
  pool: Pool,
  refunds: number,
  progress: Progress,
): Promise<{ driven: Driven; settled: Settled }> {
  progress.begin('Customers order and pay', storm.orders.length);
  let paid = 0;
  const driven = await driveStorm(storm, { apiUrl: stack.api_url, apiKey: stack.api_key, gateway }, () => {
    paid += 1;
    progress.at(paid);
  });
  progress.end();
  const ids = idsOf(storm);
  progress.begin('Payments and refunds settle', ids.paymentIds.length + refunds);
  const settled = await awaitSettled(pool, gateway, ids, refunds, progress.at);
  progress.end();
  return { driven, settled };
}

/** The simulator's faults are what they were afterwards, also when the demo is interrupted. */
async function inBadWeather<T>(gateway: GatewayControls, seed: number, work: () => Promise<T>): Promise<T> {
  const before = await gateway.faults();
  const restore = (): Promise<void> => gateway.setFaults(before);
  const interrupted = (signal: NodeJS.Signals): void => {
    void restore().finally(() => process.exit(signal === 'SIGINT' ? 130 : 143));
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    await gateway.setFaults(stormFaults(seed));
    return await work();
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    await restore();
  }
}

function idsOf(storm: Storm) {
  return {
    source: 'sim',
    orderIds: storm.orders.map(({ id }) => id),
    paymentIds: storm.orders.flatMap(({ payments }) => payments.map(({ id }) => id)),
  };
}
