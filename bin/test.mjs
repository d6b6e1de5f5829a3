#!/usr/bin/env node
// `npm test [-- files and options of vitest]`: every test, and as the last line how many passed and failed.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROJECT, prepare } from './prepare.mjs';

prepare({ withDevelopment: true });
const args = process.argv.slice(2);
// Reporters named by the caller take the place of the configured ones; ours is wanted beside them.
if (args.some((arg) => arg.startsWith('--reporter'))) args.push('--reporter=./test/support/count-reporter.ts');
const scratch = mkdtempSync(join(tmpdir(), 'paidonce-count-'));
const countFile = join(scratch, 'count');
const vitest = spawn(process.execPath, [join(PROJECT, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...args], {
  cwd: PROJECT,
  stdio: 'inherit',
  env: { ...process.env, PAIDONCE_TEST_COUNT: countFile },
});
// A Ctrl-C reaches vitest as well, which then ends what the tests started; we wait for it. Others reach only us.
process.on('SIGINT', () => undefined);
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => vitest.kill(signal));

vitest.on('exit', (code) => {
  process.stdout.write(`${countLine(code)}\n`);
  rmSync(scratch, { recursive: true, force: true });
  process.exitCode = code ?? 1;
});

/** What test/support/count-reporter.ts wrote; where vitest did not get so far, nothing passed. */
function countLine(code) {
  try {
    return readFileSync(countFile, 'utf8');
  } catch {
    return code === 0 ? '0 passed, 0 failed' : '0 passed, 1 failed';
  }
}
