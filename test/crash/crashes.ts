import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openCrashWorld, type CrashWorld } from '../support/crash/crash-world.ts';
import { runPoints, type CrashResult } from '../support/crash/run-points.ts';
import { CRASH_SCENARIOS } from '../support/crash/scenarios/index.ts';

/**
 * Kills a process before and after every step of every scenario, and writes what came of it to docs/proofs/crashes.md:
 * `npm run crashes`, or `npm run crashes -- -t payOutSeller` for some, which writes nothing.
 */
const BATCH = 24;
/** Beside a scenario's own steps some come and go with the relay's timing: so many further ones are asked for at most. */
const BEYOND = 12;
/** Up to a hundred deaths of some seconds each, on a machine with other work. */
const SCENARIO_MS = 7_200_000;
const PROOF = 'docs/proofs/crashes.md';

interface Row {
  readonly scenario: string;
  readonly steps: number;
  readonly deaths: number;
  readonly failures: readonly string[];
}

const rows: Row[] = [];
const began = Date.now();

let world: CrashWorld;
beforeAll(async () => {
  world = await openCrashWorld(true);
});
afterAll(async () => {
  await world.close();
  if (rows.length === Object.keys(CRASH_SCENARIOS).length) writeProof();
});

it.each(Object.keys(CRASH_SCENARIOS))(
  '%s',
  async (scenario) => {
    const [seen] = await runPoints(world, [{ scenario, at: null }]);
    const steps = seen?.steps.length ?? 0;
    say(`${scenario}: ${steps} steps`);
    const results: CrashResult[] = [];
    const tryAll = async (from: number, to: number): Promise<void> => {
      const points = Array.from({ length: to - from + 1 }, (_, n) => ({ scenario, at: from + n }));
      results.push(...(await runPoints(world, points, ({ at }, where) => say(`  ${String(at)} ${where ?? ''}`))));
    };
    for (let from = 1; from <= steps; from += BATCH) await tryAll(from, Math.min(steps, from + BATCH - 1));
    for (let n = steps + 1; results.at(-1)?.died !== false && n <= steps + BEYOND; n += 1) await tryAll(n, n);
    const failures = [...results, ...(seen === undefined ? [] : [seen])]
      .filter(({ failure }) => failure !== null)
      .map(({ at, steps: taken, failure }) => `step ${String(at)} (${taken.at(-1) ?? ''}): ${failure ?? ''}`);
    rows.push({ scenario, steps, deaths: results.filter(({ died }) => died).length, failures });
    expect(failures).toEqual([]);
    expect(results.at(-1)?.died, 'it survives once every step was hit').toBe(false);
  },
  SCENARIO_MS,
);

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function writeProof(): void {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const deaths = rows.reduce((sum, row) => sum + row.deaths, 0);
  const lines = rows.map(({ scenario, steps, deaths: died, failures }) => {
    const who = CRASH_SCENARIOS[scenario]?.victim ?? '';
    return `| ${scenario} | ${who} | ${steps} | ${died} | ${failures.length === 0 ? 'all came right' : failures.join('; ')} |`;
  });
  mkdirSync('docs/proofs', { recursive: true });
  writeFileSync(
    PROOF,
    `# Killed at every step

Written by \`npm run crashes\` on ${new Date().toISOString().slice(0, 10)} at commit ${commit}: ${deaths} deaths in ${Math.round((Date.now() - began) / 60_000)} minutes.

The real \`worker.ts\` and \`server.ts\` run with a preload that counts what they do towards the outside (statements, commits, calls of
the gateway, calls of Temporal), and that kills the process with SIGKILL at step 1, then at step 2, and so on, until it survives. The gateway ignores
idempotency keys and sends no webhook. Another process takes over. Then the gateway must hold exactly one effect, the request under the
same key must be answered with what is true, and the audit must be clean.

| what is done | who dies | steps | deaths | result |
|---|---|---|---|---|
${lines.join('\n')}
`,
  );
  say(lines.join('\n'));
}
