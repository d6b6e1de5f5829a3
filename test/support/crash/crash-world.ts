import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runAudit } from '../../../src/database/audit.ts';
import { API_SCOPES, rotateApiKey } from '../../../src/database/rotate-api-key.ts';
import { callerWithKey, type ApiAnswer, type ApiCaller } from '../api-client.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { simSettings, startProcess, type ProcessSettings, type TestProcess } from '../processes.ts';
import { mustNotOutliveUs } from '../reaper.ts';
import { startReceiver, type Receiver } from '../receiver.ts';
import { signedWebhook } from '../signed-webhook.ts';
import { control, startSimulatorProcess } from '../simulator.ts';
import { createTestNamespace, type TestNamespace } from '../temporal.ts';
import { startVictims, type Victims } from './victims.ts';

/**
 * Longer than a request may wait, so that no key is completed under a request that is still running; short, since a test waits it
 * out after every death of an API process.
 */
const LEASE = '6s';

export interface GatewayObjects {
  readonly payments: readonly any[];
  readonly refunds: readonly any[];
  readonly payouts: readonly any[];
}

/** The whole product with processes that die on demand, on a database and a namespace of its own. */
export interface CrashWorld {
  readonly db: TestDatabase;
  readonly temporal: TestNamespace;
  readonly folder: string;
  readonly workers: Victims;
  readonly servers: Victims;
  /** Somebody else's service, for endpoints. */
  readonly receiver: Receiver;
  /** At an API process that nobody kills. */
  readonly api: ApiCaller;
  /** At another one. */
  apiAt(server: TestProcess): ApiCaller;
  /** Sends one webhook of a payment, at a process of the API's. */
  deliver(server: TestProcess | null, id: string, body: object): Promise<ApiAnswer>;
  control<T = any>(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<T>;
  atGateway(): Promise<GatewayObjects>;
  row<T extends object = any>(sql: string, ...values: unknown[]): Promise<T | undefined>;
  expectCleanAudit(): Promise<void>;
  close(): Promise<void>;
}

/** @param built runs the built product, for whoever has just built it */
export async function openCrashWorld(built = false): Promise<CrashWorld> {
  const [db, temporal, sim] = await Promise.all([createTestDatabase(), createTestNamespace(), simSettings()]);
  const folder = mkdtempSync(join(tmpdir(), 'paidonce-crash-'));
  const forgetFolder = mustNotOutliveUs('folder', folder);
  const configFile = join(folder, 'paidonce.json');
  writeFileSync(
    configFile,
    JSON.stringify({ policies: { idempotency_lease: LEASE }, outgoing: { allow_networks: ['127.0.0.0/8'] } }),
  );
  const settings: ProcessSettings = {
    databaseUrl: db.url,
    temporal: { address: temporal.address, namespace: temporal.namespace },
    ...{ configFile, sim, built },
    env: { LOG_LEVEL: 'warn' },
  };
  const [workers, servers] = (['worker', 'server'] as const).map((kind) =>
    startVictims(kind, { settings, folder }),
  ) as [Victims, Victims];
  const [steady, key, receiver] = await Promise.all([
    startProcess('server', settings),
    rotateApiKey(db.url, { client: 'shop', scopes: API_SCOPES }),
    startReceiver(),
    startSimulatorProcess(sim),
    workers.current(),
    servers.current(),
  ]);
  // It would bring in what no scenario sent, minutes later and in the middle of another one.
  await temporal.client.schedule.getHandle('find-missing-webhooks:sim').pause();
  const tell = <T>(method: 'GET' | 'POST' | 'PUT', path: string, body?: object) => control<T>(sim, method, path, body);
  // No key helps and no webhook comes but those that a scenario sends: what keeps things single is ours alone.
  await tell('PUT', '/faults', { forget_keys: 1, drop: 1 });

  async function row<T extends object>(sql: string, ...values: unknown[]): Promise<T | undefined> {
    return (await db.pool.query<T>(sql, values)).rows[0];
  }

  return {
    ...{ db, temporal, folder, workers, servers, receiver, row, control: tell },
    api: callerWithKey(steady.url, key),
    apiAt: (server) => callerWithKey(server.url, key),
    async deliver(server, id, body) {
      const url = `${(server ?? steady).url}/webhooks/sim`;
      const response = await fetch(url, signedWebhook(sim.webhookSecret, body, { id }));
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
    },
    atGateway: () => tell('GET', '/state'),
    async expectCleanAudit() {
      const report = await runAudit(db.pool);
      expect(report.violations).toEqual([]);
    },
    async close() {
      await receiver.close();
      await temporal.close();
      await db.drop();
      rmSync(folder, { recursive: true, force: true });
      forgetFolder();
    },
  };
}
