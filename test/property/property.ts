import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { it } from 'vitest';
import { holdProperty } from '../support/property/hold.ts';

const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 20);
const SEED = Number(process.env['PROPERTY_SEED'] ?? Date.now() % 1_000_000);
const COMMANDS = { minLength: 60, maxLength: 120 };
const PROOF = 'docs/proofs/property.md';
/** One run is a minute or two on a busy machine. */
const RUN_MS = 600_000;

it(
  `each accepted key is one effect and one answer (${RUNS} runs, seed ${SEED})`,
  async () => {
    const began = Date.now();
    let [runs, accepted] = [0, 0];
    await holdProperty({
      ...{ runs: RUNS, seed: SEED, commands: COMMANDS },
      onRun(keys) {
        runs += 1;
        accepted += keys;
        process.stderr.write(`run ${runs} of ${RUNS}: ${keys} keys accepted, all right\n`);
      },
    });
    writeProof({ runs, accepted, minutes: Math.round((Date.now() - began) / 60_000) });
  },
  RUNS * RUN_MS,
);

function writeProof({ runs, accepted, minutes }: { runs: number; accepted: number; minutes: number }): void {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  mkdirSync('docs/proofs', { recursive: true });
  writeFileSync(
    PROOF,
    `# Whatever is asked, repeated, lost, killed and delivered twice

Written by \`npm run property -- --runs ${runs} --seed ${SEED}\` on ${new Date().toISOString().slice(0, 10)} at commit ${commit}: ${runs} runs of
${COMMANDS.minLength} to ${COMMANDS.maxLength} commands, ${accepted} accepted keys, ${minutes} minutes, no violation.

Each run lets drawn commands loose on two API processes, a worker and a gateway, one after the other or at once: refunds, charges, top-ups,
payouts, checkouts and orders under keys of their own; the same again at the other process, or with another body; clients that hang up; cancellations
and confirm calls; extra captures; webhooks repeated, reordered and of old news; storms of signals; a gateway that loses its answers, does the work
later, fails after doing it, ignores idempotency keys; processes killed and started again.

When nothing moves any more: each accepted key has exactly one object at the gateway, and whatever was not accepted has none; every answer that anybody heard under
a key is the one that it gives now, byte for byte; no key was accepted with two bodies; extra captures went back once; no payment gave back more than
it took; nothing is pending, nobody has to decide anything, and the audit is clean.
`,
  );
}
