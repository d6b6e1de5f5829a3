import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach } from 'vitest';
import { launch, type Exit, type Running } from '../../src/stack/launch.ts';
import { freePorts } from '../../src/stack/ports.ts';
import { askForService } from './ask-for-service.ts';
import { mustNotOutliveUs } from './reaper.ts';
import type { WorkflowsService } from './services.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
// Compiling and bundling take a second or two alone, half a minute on one that is overrun.
const READY_MS = 120_000;
// What a process may take to end by itself before it is ended.
const STOP_MS = 15_000;
// What of a process's output is shown beside a failed test.
const SHOWN = 6_000;

/** The simulator's side and ours of the source `sim`. */
export interface SimSettings {
  readonly url: string;
  readonly port: number;
  readonly apiKey: string;
  readonly webhookSecret: string;
}

export interface ProcessSettings {
  readonly databaseUrl: string;
  readonly temporal: { readonly address: string; readonly namespace: string };
  /** Path of a PAIDONCE_CONFIG. */
  readonly configFile?: string;
  /** Adds the source `sim`; needed for a simulator. */
  readonly sim?: SimSettings;
  /** Where the simulator sends its webhooks. */
  readonly webhookUrl?: string;
  /** Listens here; any free port otherwise. */
  readonly port?: number;
  /** A module that is loaded before the process's own. */
  readonly preload?: string;
  /** Runs what `npm run build` made: it starts in less than half the time. */
  readonly built?: boolean;
  /** How long it may take to get ready, in milliseconds; two minutes without. */
  readonly readyMs?: number;
  /** Goes before everything else. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface TestProcess {
  /** Of the run that is on; another one after `restart`. */
  readonly pid: number;
  /** The same after a restart. */
  readonly port: number;
  readonly url: string;
  /** Resolves when the run that is on has ended, whoever ended it. */
  readonly exited: Promise<Exit>;
  /** All that it wrote, in all its runs. */
  logs(): string;
  /** Sends the signal and waits until the process has ended. */
  kill(signal: NodeJS.Signals): Promise<Exit>;
  /** Ends it if it runs (SIGTERM), and starts it again on the same port. */
  restart(): Promise<void>;
}

const folder = mkdtempSync(join(tmpdir(), 'paidonce-processes-'));
const forgetFolder = mustNotOutliveUs('folder', folder);
const started: { process: TestProcess; end: () => Promise<void>; name: string }[] = [];

/** Settings of a simulator on a free port with secrets of its own. */
export async function simSettings(): Promise<SimSettings> {
  const [port = 0] = await freePorts(1);
  return {
    url: `http://127.0.0.1:${String(port)}`,
    port,
    apiKey: `sim_${randomBytes(12).toString('hex')}`,
    webhookSecret: `whsec_${randomBytes(24).toString('base64')}`,
  };
}

/**
 * Starts server.ts, worker.ts or simulator.ts as a real process and waits until it says that it is ready. It is ended with
 * the test file at the latest; where a test fails, the end of its output is shown.
 */
export async function startProcess(
  name: 'server' | 'worker' | 'simulator',
  settings: ProcessSettings,
): Promise<TestProcess> {
  const asked = settings.port ?? (name === 'simulator' ? settings.sim?.port : undefined);
  const port = asked ?? (await freePorts(1))[0] ?? 0;
  const logFile = join(folder, `${name}-${String(started.length)}.log`);
  // A worker would make the bundle by itself, which takes as long as all the rest of its start.
  const workflows =
    name === 'worker' ? { WORKFLOW_BUNDLE: (await askForService<WorkflowsService>('/workflows')).codePath } : {};
  const env = { ...environment(settings, port), ...workflows };
  let forget = (): void => undefined;
  const run = async (): Promise<Running> => {
    const preload = settings.preload === undefined ? [] : ['--import', settings.preload];
    const built = settings.built === true;
    const args = built ? [...preload, `dist/${name}.js`] : ['--import', 'tsx', ...preload, `${name}.ts`];
    const running = await launch({ name, command: process.execPath, args, cwd: PROJECT, env, logFile, ipc: true });
    forget = mustNotOutliveUs('pid', running.pid);
    const ended = running.exited.then(() => 'ended' as const);
    const outcome = await Promise.race([
      running.ready,
      ended,
      delay(settings.readyMs ?? READY_MS, 'late' as const, { ref: false }),
    ]);
    if (outcome !== undefined) {
      await running.stop('SIGKILL', 0);
      throw new Error(`${name} ${outcome === 'late' ? 'did not get ready' : 'ended at its start'}:\n${tail(logFile)}`);
    }
    return running;
  };
  let current = await run();
  const handle: TestProcess = {
    get pid() {
      return current.pid;
    },
    port,
    url: `http://127.0.0.1:${String(port)}`,
    get exited() {
      return current.exited;
    },
    logs: () => readFileSync(logFile, 'utf8'),
    kill: async (signal) => {
      await current.stop(signal, STOP_MS);
      forget();
      return current.exited;
    },
    restart: async () => {
      await handle.kill('SIGTERM');
      current = await run();
    },
  };
  const end = async (): Promise<void> => {
    await current.stop('SIGKILL', STOP_MS);
    forget();
  };
  started.push({ process: handle, end, name });
  return handle;
}

function environment(settings: ProcessSettings, port: number): NodeJS.ProcessEnv {
  const { sim } = settings;
  const own = /^(PG[A-Z_]+|DATABASE_.*|TEMPORAL_.*|PAIDONCE_.*|HOST|PORT|SIMULATOR_PORT|SMTP_URL|VITEST.*|NODE_ENV)$/;
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)));
  return {
    ...inherited,
    DATABASE_URL: settings.databaseUrl,
    TEMPORAL_ADDRESS: settings.temporal.address,
    TEMPORAL_NAMESPACE: settings.temporal.namespace,
    HOST: '127.0.0.1',
    PORT: String(port),
    SIMULATOR_PORT: String(port),
    ...(settings.configFile === undefined ? {} : { PAIDONCE_CONFIG: settings.configFile }),
    ...(settings.webhookUrl === undefined ? {} : { PAIDONCE_WEBHOOK_URL: settings.webhookUrl }),
    ...(sim === undefined
      ? {}
      : {
          PAIDONCE_SIM_URL: sim.url,
          PAIDONCE_SIM_API_KEY: sim.apiKey,
          PAIDONCE_SIM_WEBHOOK_SECRET: sim.webhookSecret,
        }),
    ...settings.env,
  };
}

function tail(logFile: string): string {
  return readFileSync(logFile, 'utf8').slice(-SHOWN);
}

afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return;
  for (const { name, process: one } of started)
    process.stderr.write(`--- ${name} (${task.name})\n${one.logs().slice(-SHOWN)}\n`);
});

afterAll(async () => {
  await Promise.all(started.map((one) => one.end()));
  rmSync(folder, { recursive: true, force: true });
  forgetFolder();
});
