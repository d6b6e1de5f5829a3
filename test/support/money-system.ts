import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { API_SCOPES, rotateApiKey } from '../../src/database/rotate-api-key.ts';
import { freePorts } from '../../src/stack/ports.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { eventually } from './eventually.ts';
import { simSettings, startProcess, type ProcessSettings, type SimSettings, type TestProcess } from './processes.ts';
import { mustNotOutliveUs } from './reaper.ts';
import { control } from './simulator.ts';
import { createTestNamespace, type TestNamespace } from './temporal.ts';

export interface MoneyAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Byte for byte. */
  readonly text: string;
  readonly body: any;
}

export interface MoneyCall {
  /** Idempotency-Key. */
  readonly key?: string;
  /** Sent as it is if it is text. */
  readonly body?: unknown;
  readonly apiKey?: string;
  /** Which API process; they take turns without. */
  readonly server?: TestProcess | undefined;
  /** The client gives up. */
  readonly signal?: AbortSignal;
}

export interface AtGateway {
  readonly payments: readonly Readonly<Record<string, any>>[];
  readonly refunds: readonly Readonly<Record<string, any>>[];
  readonly payouts: readonly Readonly<Record<string, any>>[];
  readonly calls: Readonly<Record<string, number>>;
}

/** Two API processes, a worker and a gateway as real processes, on a database and a namespace of their own. */
export interface MoneySystem {
  readonly db: TestDatabase;
  readonly temporal: TestNamespace;
  readonly sim: SimSettings;
  readonly servers: readonly TestProcess[];
  readonly worker: TestProcess;
  /** A key of the client `shop`, which may do everything. */
  readonly apiKey: string;
  /** One more API process with settings of its own. */
  startServer(over: Partial<ProcessSettings>): Promise<TestProcess>;
  get(path: string, options?: MoneyCall): Promise<MoneyAnswer>;
  post(path: string, options?: MoneyCall): Promise<MoneyAnswer>;
  /** An order over `amount` that this captured payment has paid. */
  paid(name: string, amount?: number): Promise<{ orderId: string; paymentId: string }>;
  order(id: string, amount?: number): Promise<void>;
  faults(settings: object): Promise<void>;
  /** All that the gateway has. */
  atGateway(): Promise<AtGateway>;
  row<T extends object = any>(sql: string, ...values: unknown[]): Promise<T | undefined>;
  count(from: string, ...values: unknown[]): Promise<number>;
  /** Waits until the address shows these fields, and answers all. */
  shows(path: string, fields: object, limitMs?: number): Promise<any>;
  close(): Promise<void>;
}

export async function openMoneySystem(
  options: {
    readonly policies?: Readonly<Record<string, unknown>>;
    /** Sources beside the simulator's. */
    readonly sources?: readonly object[];
    readonly env?: Readonly<Record<string, string>>;
    /** Whether the gateway sends its webhooks. */
    readonly webhooks?: boolean;
  } = {},
): Promise<MoneySystem> {
  const [db, temporal, sim, ports] = await Promise.all([
    createTestDatabase(),
    createTestNamespace(),
    simSettings(),
    freePorts(2),
  ]);
  const folder = mkdtempSync(join(tmpdir(), 'paidonce-money-'));
  const forgetFolder = mustNotOutliveUs('folder', folder);
  const configFile = join(folder, 'paidonce.json');
  writeFileSync(configFile, JSON.stringify({ policies: options.policies ?? {}, sources: options.sources ?? [] }));
  const settings: ProcessSettings = {
    databaseUrl: db.url,
    temporal: { address: temporal.address, namespace: temporal.namespace },
    ...{ configFile, sim },
    env: { LOG_LEVEL: 'warn', SIMULATOR_STATE_FILE: 'none', ...options.env },
  };
  // Tests kill the first API process, and the gateway sends to the second one.
  const webhookUrl = options.webhooks === false ? 'http://127.0.0.1:2/' : `http://127.0.0.1:${ports[1]}/webhooks/sim`;
  const [servers, worker, simulator, apiKey] = await Promise.all([
    Promise.all(ports.map((port) => startProcess('server', { ...settings, port }))),
    startProcess('worker', settings),
    startProcess('simulator', { ...settings, webhookUrl }),
    rotateApiKey(db.url, { client: 'shop', scopes: API_SCOPES }),
  ]);
  const further: TestProcess[] = [];
  let turn = 0;

  async function call(method: string, path: string, options: MoneyCall = {}): Promise<MoneyAnswer> {
    const { key, body, server = servers[turn++ % servers.length] } = options;
    const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(`${server?.url ?? ''}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${options.apiKey ?? apiKey}`,
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      ...(sent === undefined ? {} : { body: sent }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
  }

  async function row<T extends object>(sql: string, ...values: unknown[]): Promise<T | undefined> {
    return (await db.pool.query<T>(sql, values)).rows[0];
  }

  async function order(id: string, amount = 10_000): Promise<void> {
    const lines = [{ id: 'l1', kind: 'booking', amount }];
    const body = { id, amount, currency: 'EUR', customer: { id: 'cus_1' }, lines };
    const { status, text } = await call('POST', '/v1/orders', { key: `make_${id}`, body });
    if (status !== 201) throw new Error(`order ${id}: ${status} ${text}`);
  }

  return {
    ...{ db, temporal, sim, servers, worker, apiKey, row, order },
    async startServer(over) {
      const server = await startProcess('server', { ...settings, ...over });
      further.push(server);
      return server;
    },
    get: (path, options) => call('GET', path, options),
    post: (path, options) => call('POST', path, options),
    async paid(name, amount = 10_000) {
      const [orderId, paymentId] = [`ord_${name}`, `pay_${name}`];
      await order(orderId, amount);
      const payment = { payment_id: paymentId, order_id: orderId, amount, currency: 'EUR', deliver: false };
      await control(sim, 'POST', '/payments', payment);
      await eventually(`${orderId} is paid`, async () => {
        const { body } = await call('POST', `/v1/payments/sim/${paymentId}/confirm`);
        return body.order?.status === 'paid';
      });
      return { orderId, paymentId };
    },
    async faults(faults) {
      await control(sim, 'PUT', '/faults', faults);
    },
    atGateway: () => control<AtGateway>(sim, 'GET', '/state'),
    async count(from, ...values) {
      return Number((await row<{ n: bigint }>(`select count(*) as n from ${from}`, ...values))?.n);
    },
    async shows(path, fields, limitMs) {
      let last: MoneyAnswer | null = null;
      const wanted = Object.entries(fields);
      return eventually(
        `${path} shows ${JSON.stringify(fields)}`,
        async () => {
          last = await call('GET', path);
          return wanted.every(([name, value]) => last?.body[name] === value) ? (last.body as unknown) : null;
        },
        limitMs,
      ).catch((error: unknown) => {
        throw new Error(`${(error as Error).message}; last seen: ${last?.text ?? 'nothing'}`);
      });
    },
    async close() {
      await Promise.all([...servers, ...further, worker, simulator].map((one) => one.kill('SIGKILL')));
      await temporal.close();
      await db.drop();
      rmSync(folder, { recursive: true, force: true });
      forgetFolder();
    },
  };
}

/** An address that takes connections and never says a word. */
export async function startSilence(): Promise<{ readonly address: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
