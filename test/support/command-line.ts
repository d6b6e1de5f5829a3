import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mustNotOutliveUs } from './reaper.ts';

const LAUNCHER = fileURLToPath(new URL('../../bin/paidonce.mjs', import.meta.url));
// Settings of the test run itself are not the command's.
const OWN = /^(PG[A-Z_]+|DATABASE_.*|TEMPORAL_.*|PAIDONCE_.*|VITEST.*|NODE_ENV)$/;

export interface CommandResult {
  readonly exitCode: number | null;
  readonly out: string;
  readonly err: string;
}

/** A folder in which commands are run as a person runs them. */
export interface CommandLine {
  /** `onLine` is told of each line on standard error as it comes. */
  run(
    args: readonly string[],
    options?: { env?: Record<string, string>; onLine?: (line: string) => void },
  ): Promise<CommandResult>;
  remove(): void;
}

/** @param devFile what a running stack says of itself; null: none runs here */
export function openCommandLine(devFile: object | null): CommandLine {
  const folder = mkdtempSync(join(tmpdir(), 'paidonce-command-'));
  const forget = mustNotOutliveUs('folder', folder);
  if (devFile !== null) {
    mkdirSync(join(folder, '.paidonce'));
    writeFileSync(join(folder, '.paidonce', 'dev.json'), JSON.stringify(devFile), { mode: 0o600 });
  }
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OWN.test(name)));
  return {
    run: (args, { env = {}, onLine = () => undefined } = {}) =>
      new Promise((resolve, reject) => {
        const child = spawn(process.execPath, [LAUNCHER, ...args], {
          cwd: folder,
          env: { ...inherited, ...env },
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        const forgetChild = mustNotOutliveUs('pid', child.pid ?? 0);
        let out = '';
        let err = '';
        child.stdout.on('data', (chunk) => (out += String(chunk)));
        child.stderr.on('data', (chunk) => {
          err += String(chunk);
          String(chunk).split('\n').filter(Boolean).forEach(onLine);
        });
        child.once('error', reject);
        child.once('close', (exitCode) => {
          forgetChild();
          resolve({ exitCode, out, err });
        });
      }),
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
      forget();
    },
  };
}
