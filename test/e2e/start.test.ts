import { existsSync, readlinkSync, readdirSync, statSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acceptsConnections } from '../../src/stack/ports.ts';
import { eventually } from '../support/eventually.ts';
import { copyProject, type DevFile, type ProjectCopy, type StartedCopy } from '../support/start-copy.ts';

// A start with everything in it takes some seconds, on a busy machine many; the tests below make several.
const START_MS = 150_000;
// The promise is 15 s; a test that polls sees the end a moment later.
const END_MS = 15_500;

let copy: ProjectCopy;
let stack: StartedCopy;
let dev: DevFile;

beforeAll(async () => {
  copy = copyProject();
  stack = copy.start();
  dev = await stack.ready();
}, START_MS);

afterAll(async () => {
  stack.kill('SIGTERM');
  await stack.exited;
  copy.remove();
}, START_MS);

function portOf(url: string): number {
  return Number(new URL(url.includes('://') ? url : `tcp://${url}`).port);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Everything on this machine that works in the copy's folder; where there is no /proc, nothing is seen. */
function processesInFolder(folder: string): string[] {
  if (!existsSync('/proc/self/cwd')) return [];
  return readdirSync('/proc').filter((name) => {
    try {
      return readlinkSync(`/proc/${name}/cwd`).startsWith(folder);
    } catch {
      return false;
    }
  });
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function isHealthy(url: string): Promise<boolean> {
  return fetch(`${url}/healthz`).then(
    (response) => response.ok,
    () => false,
  );
}

async function endAndExpectNothingLeft(): Promise<void> {
  const pids = Object.values(copy.pids());
  const before = Date.now();
  stack.kill('SIGTERM');
  expect(await stack.exited).toBe(0);
  expect(Date.now() - before).toBeLessThan(END_MS);
  expect(pids.filter(isAlive)).toEqual([]);
  expect(processesInFolder(copy.folder)).toEqual([]);
  expect(existsSync(copy.devFile)).toBe(false);
}

describe('npm start', () => {
  test('writes what others need into dev.json, for its owner alone', () => {
    expect(statSync(copy.devFile).mode & 0o777).toBe(0o600);
    expect(dev).toEqual({
      api_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      console_url: `${dev.api_url}/`,
      temporal_ui_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      temporal_address: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      namespace: 'default',
      database_url: expect.stringMatching(/^postgres:\/\/paidonce:\w+@127\.0\.0\.1:\d+\/paidonce$/),
      api_key: expect.stringMatching(/.{20,}/),
      simulator_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      worker_metrics_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/),
      sources: { sim: { webhook_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/=]{32,}$/) } },
    });
  });

  test('has everything answering by then', async () => {
    expect(await isHealthy(dev.api_url)).toBe(true);
    expect((await fetch(dev.temporal_ui_url)).status).toBe(200);
    expect(await acceptsConnections(portOf(dev.simulator_url))).toBe(true);
    expect(await (await fetch(dev.worker_metrics_url)).text()).toContain('paidonce_payments_applied_total');
    expect(await acceptsConnections(portOf(dev.temporal_address))).toBe(true);
    expect(await query(dev.database_url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('keeps secrets out of what it prints, and names the next command', () => {
    const password = new URL(dev.database_url).password;
    for (const secret of [dev.api_key, password, dev.sources.sim.webhook_secret]) {
      expect(stack.output()).not.toContain(secret);
    }
    expect(stack.output()).toContain('npx paidonce demo');
    expect(stack.output()).toContain(dev.api_url);
  });

  test('makes PostgreSQL write to the disk before it answers', async () => {
    expect(await query(dev.database_url, 'show fsync')).toEqual([{ fsync: 'on' }]);
  });

  test('refuses a second start in the same folder by a sentence', async () => {
    const second = copy.start();
    expect(await second.exited).toBe(1);
    expect(second.output()).toMatch(/runs in this folder already \(process \d+\): .+\.\n$/);
    expect(await isHealthy(dev.api_url)).toBe(true);
  });

  test.each([
    ['API', 'api_url'],
    ['Simulator', 'simulator_url'],
    ['Temporal', 'temporal_address'],
    ['PostgreSQL', 'database_url'],
  ] as const)(
    'starts %s again on its port when it was killed',
    async (name, field) => {
      // A process is remembered a moment after it was started.
      await eventually(
        () => `${name} is remembered:\n${stack.output()}`,
        () => copy.pids()[name] !== undefined,
      );
      const pid = copy.pids()[name];
      // Signalling process 0 would end this very run.
      if (pid === undefined || pid <= 1) throw new Error(`${name} has no process id.`);
      process.kill(pid, 'SIGKILL');
      const isBack = async (): Promise<boolean> => {
        const now = copy.pids()[name];
        return now !== undefined && now !== pid && (await acceptsConnections(portOf(dev[field])));
      };
      await eventually(() => `${name} comes back:\n${stack.output()}`, isBack, 60_000);
      await eventually(stack.output, () => stack.output().includes(`${name} runs again`), 60_000);
      expect(stack.output()).toContain(`${name} ended (SIGKILL)`);
    },
    120_000,
  );

  test(
    'forgets nothing from one start to the next, and leaves nothing running in between',
    async () => {
      await query(dev.database_url, 'create table kept as select 42 as answer');
      const secret = dev.sources.sim.webhook_secret;
      await endAndExpectNothingLeft();
      stack = copy.start();
      dev = await stack.ready();
      expect(await query(dev.database_url, 'select answer from kept')).toEqual([{ answer: 42 }]);
      expect(dev.sources.sim.webhook_secret).toBe(secret);
    },
    START_MS,
  );

  test(
    'ends what a killed start left behind, and starts',
    async () => {
      const orphans = Object.values(copy.pids());
      stack.kill('SIGKILL');
      await stack.exited;
      expect(orphans.filter(isAlive)).not.toEqual([]);
      const before = statSync(copy.devFile).mtimeMs;
      stack = copy.start();
      await eventually(
        stack.output,
        () => existsSync(copy.devFile) && statSync(copy.devFile).mtimeMs > before,
        START_MS,
      );
      dev = await stack.ready();
      expect(orphans.filter(isAlive)).toEqual([]);
      expect(await isHealthy(dev.api_url)).toBe(true);
    },
    START_MS,
  );

  test(
    'ends by SIGTERM with 0 and leaves nothing running, though everything hangs that it started',
    async () => {
      const { API, Worker, Simulator, Temporal } = copy.pids();
      for (const pid of [API, Worker, Simulator, Temporal]) {
        // Signalling process 0 would stop this very run.
        if (pid === undefined || pid <= 1) throw new Error('A process is not remembered.');
        process.kill(pid, 'SIGSTOP');
      }
      await endAndExpectNothingLeft();
    },
    START_MS,
  );

  test('answers a taken port by a sentence that names the port and its variable', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => {
      holder.listen(0, '127.0.0.1', resolve);
    });
    const port = String((holder.address() as AddressInfo).port);
    try {
      stack = copy.start({ TEMPORAL_UI_PORT: port });
      expect(await stack.exited).toBe(1);
      expect(stack.output()).toContain(`Port ${port} (TEMPORAL_UI_PORT) is taken: `);
      expect(stack.output()).not.toContain('    at ');
      expect(processesInFolder(copy.folder)).toEqual([]);
    } finally {
      holder.close();
    }
  });
});
