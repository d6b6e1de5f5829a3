import { spawn, type ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mustNotOutliveUs } from './reaper.ts';
import { eventually } from './eventually.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const PARTS = ['bin', 'src', 'migrations', 'package.json', 'package-lock.json', 'tsconfig.json'];
const ROOTS = ['server.ts', 'worker.ts', 'simulator.ts'];
const READY_MS = 120_000;
const ANY_PORT = { PORT: '0', SIMULATOR_PORT: '0', PGPORT: '0', TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0' };

export interface DevFile {
  readonly api_url: string;
  readonly console_url: string;
  readonly temporal_ui_url: string;
  readonly temporal_address: string;
  readonly namespace: string;
  readonly database_url: string;
  readonly api_key: string;
  readonly simulator_url: string;
  readonly worker_metrics_url: string;
  readonly sources: { readonly sim: { readonly webhook_secret: string } };
}

/** A copy of the project in a folder of its own, to be started as a person would start it. */
export interface ProjectCopy {
  readonly folder: string;
  readonly devFile: string;
  /** Starts it with any free ports, where `env` names none. */
  start(env?: Record<string, string>): StartedCopy;
  /** The process ids of what a start has running, by name. */
  pids(): Record<string, number>;
  remove(): void;
}

export interface StartedCopy {
  readonly pid: number;
  /** Standard output and standard error so far. */
  output(): string;
  /** Resolves with what it wrote for others when everything is ready; rejects with its output when it ends before. */
  ready(): Promise<DevFile>;
  kill(signal: NodeJS.Signals): void;
  /** Its exit code, null when a signal ended it. */
  readonly exited: Promise<number | null>;
}

export function copyProject(): ProjectCopy {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'paidonce-copy-')));
  const forget = mustNotOutliveUs('folder', folder);
  for (const name of [...PARTS, ...ROOTS]) cpSync(join(PROJECT, name), join(folder, name), { recursive: true });
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  const devFile = join(folder, '.paidonce', 'dev.json');
  const processesFile = join(folder, '.paidonce', 'processes.json');
  return {
    folder,
    devFile,
    start: (env = {}) => startCopy(folder, devFile, env),
    pids: () => {
      try {
        const list = JSON.parse(readFileSync(processesFile, 'utf8')) as { name: string; pid: number }[];
        return Object.fromEntries(list.map(({ name, pid }) => [name, pid]));
      } catch {
        // Not there yet, or just being written: whoever waits asks again.
        return {};
      }
    },
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
      forget();
    },
  };
}

function startCopy(folder: string, devFile: string, env: Record<string, string>): StartedCopy {
  const child: ChildProcess = spawn(process.execPath, ['bin/start.mjs'], {
    cwd: folder,
    // As under npm: it then ends by itself, with all that it started, when we are gone.
    env: { ...withoutSettings(), npm_lifecycle_event: 'start', ...ANY_PORT, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
  let code: number | null | undefined;
  const exited = new Promise<number | null>((resolve) => {
    child.once('close', (exitCode) => {
      code = exitCode;
      resolve(exitCode);
    });
  });
  return {
    pid: child.pid ?? 0,
    output: () => output,
    exited,
    kill: (signal) => child.kill(signal),
    ready: async () => {
      await eventually(
        () => `it is ready:\n${output}`,
        () => existsSync(devFile) || code !== undefined,
        READY_MS,
      );
      if (!existsSync(devFile)) throw new Error(`it ended with ${String(code)}:\n${output}`);
      return JSON.parse(readFileSync(devFile, 'utf8')) as DevFile;
    },
  };
}

/** Where a person's shell knows nothing of paidonce. */
function withoutSettings(): NodeJS.ProcessEnv {
  const ours = /^(PG[A-Z_]+|DATABASE_.*|TEMPORAL_.*|PAIDONCE_.*|HOST|SMTP_URL|VITEST.*|NODE_ENV)$/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
}
