import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiAnswer } from '../api-client.ts';
import { eventually } from '../eventually.ts';
import { nothingLeft } from '../nothing-left.ts';
import type { CrashPlan } from './crash-plan.ts';
import type { CrashScenario } from './crash-scenario.ts';
import type { CrashWorld } from './crash-world.ts';
import { CRASH_SCENARIOS } from './scenarios/index.ts';

/** One try: a scenario, and the step at which its process dies, as in `CrashPlan`. */
export interface CrashPoint {
  readonly scenario: string;
  readonly at: CrashPlan['at'];
}

export interface CrashResult extends CrashPoint {
  readonly died: boolean;
  /** `{before|after} {what}` of all counted steps, the last one being that of the death. */
  readonly steps: readonly string[];
  /** What is not as it must be; null if all is well. */
  readonly failure: string | null;
}

/**
 * A worker that died holds up what it had in hand: the engine waits 10 s for its heartbeat, and another 10 s for the
 * workflow's task; a gateway that may still be at it is asked again after 5 s; and later deaths of the batch may hit it anew.
 */
const RECOVERED_MS = 120_000;
const SURVIVED_MS = 60_000;
/** No step for this long, with everything as it must be: there are no more. */
const QUIET_MS = 400;
/** Side by side at most: each is some requests. */
const PREPARED_AT_ONCE = 6;

let tried = 0;

interface Try extends CrashPoint {
  readonly tag: string;
  readonly log: string;
  readonly what: CrashScenario;
  heard: Promise<ApiAnswer | null>;
  died: boolean;
}

/**
 * Tries the points one after the other, each with things of its own, in one system: while one process dies, what others left
 * behind recovers. Then waits until all has come right, looks at each once more when nothing moves, and audits.
 */
export async function runPoints(
  world: CrashWorld,
  points: readonly CrashPoint[],
  onDeath: (point: CrashPoint, where: string | null) => void = () => undefined,
): Promise<CrashResult[]> {
  const tries = points.map(({ scenario, at }): Try => {
    const what = CRASH_SCENARIOS[scenario];
    if (what === undefined) throw new Error(`There is no scenario ${scenario}.`);
    const tag = `q${String((tried += 1)).padStart(5, '0')}q`;
    const log = join(world.folder, `${tag}.steps`);
    return { scenario, at, tag, log, what, heard: Promise.resolve(null), died: false };
  });
  await prepare(world, tries);
  for (const one of tries) {
    await die(world, one);
    onDeath(one, stepsOf(one).at(-1) ?? null);
  }
  const failures = new Map<Try, string>();
  await atOnce(tries, async (one) => {
    const heard = await one.heard;
    await settled(() => one.what.check(world, one.tag, heard), RECOVERED_MS).catch((error: unknown) => {
      failures.set(one, messageOf(error));
    });
  });
  await nothingLeft(world.db.pool, RECOVERED_MS).catch((error: unknown) => {
    throw new Error([messageOf(error), ...failuresOf(failures)].join('\n'));
  });
  for (const one of tries) {
    const heard = await one.heard;
    await one.what.check(world, one.tag, heard).catch((error: unknown) => failures.set(one, messageOf(error)));
  }
  await world.expectCleanAudit();
  return tries.map((one) => ({
    ...{ scenario: one.scenario, at: one.at, died: one.died, steps: stepsOf(one) },
    failure: failures.get(one) ?? null,
  }));
}

async function prepare(world: CrashWorld, tries: readonly Try[]): Promise<void> {
  const work = async ({ what, tag }: Try) => void (await what.prepare?.(world, tag));
  await atOnce(
    tries.filter(({ what }) => what.faultsBefore === undefined),
    work,
  );
  for (const one of tries.filter(({ what }) => what.faultsBefore !== undefined)) {
    const faults = await world.control<object>('GET', '/faults');
    await world.control('PUT', '/faults', { ...faults, ...one.what.faultsBefore });
    await work(one).finally(() => world.control('PUT', '/faults', faults));
  }
}

async function die(world: CrashWorld, one: Try): Promise<void> {
  const { what, tag, at, log } = one;
  const victims = what.victim === 'worker' ? world.workers : world.servers;
  const victim = await victims.current();
  victim.arm({ name: tag, tags: [tag, ...(what.tags?.(tag) ?? [])], at, log });
  const acted = what.act(world, tag, what.victim === 'server' ? victim.process : null);
  one.heard = acted.then(
    (answer) => answer ?? null,
    () => null,
  );
  const died = victim.process.exited.then(() => true as const);
  // One that took a step late, when all was as it must be, died of it all the same: somebody has to take its place.
  one.died = await Promise.race([died, survived(world, one).then(() => victim.disarm())]);
  if (one.died) await victims.replace();
}

/** All is as it must be, and no further step comes. */
async function survived(world: CrashWorld, one: Try): Promise<void> {
  const heard = await one.heard;
  await settled(() => one.what.check(world, one.tag, heard), SURVIVED_MS).catch(() => undefined);
  for (let before = -1; before !== stepsOf(one).length;) {
    before = stepsOf(one).length;
    await delay(QUIET_MS);
  }
}

/** Waits until the check passes; its last complaint is the error. */
async function settled(check: () => Promise<void>, limitMs: number): Promise<void> {
  let complaint: unknown;
  await eventually(
    'it has come right',
    async () => {
      try {
        await check();
        return true;
      } catch (error) {
        complaint = error;
        await delay(QUIET_MS);
        return false;
      }
    },
    limitMs,
  ).catch(() => {
    throw complaint;
  });
}

async function atOnce(tries: readonly Try[], work: (one: Try) => Promise<void>): Promise<void> {
  const rest = [...tries];
  await Promise.all(
    Array.from({ length: PREPARED_AT_ONCE }, async () => {
      for (let one = rest.shift(); one !== undefined; one = rest.shift()) await work(one);
    }),
  );
}

function stepsOf({ log }: Pick<Try, 'log'>): string[] {
  try {
    return readFileSync(log, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/^\d+ /, ''));
  } catch {
    // Nothing was counted yet.
    return [];
  }
}

function failuresOf(failures: ReadonlyMap<Try, string>): string[] {
  return [...failures].map(([one, failure]) => `${one.scenario} at ${String(one.at)}: ${failure}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
