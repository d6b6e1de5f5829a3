import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { runAudit } from '../../src/database/audit.ts';
import { API_SCOPES, rotateApiKey } from '../../src/database/rotate-api-key.ts';
import { freePorts } from '../../src/stack/ports.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { eventually } from './eventually.ts';
import { simSettings, startProcess, type ProcessSettings, type SimSettings, type TestProcess } from './processes.ts';
import { mustNotOutliveUs } from './reaper.ts';
import { signedWebhook } from './signed-webhook.ts';
import { control } from './simulator.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';
import { createTestNamespace, type TestNamespace } from './temporal.ts';

// Six processes and what a test awaits of them: seconds on a machine of its own, many where others work beside it.
const PATIENCE_MS = 40_000;
vi.setConfig({ testTimeout: 60_000 });

export interface SystemOptions {
  /** Names of sources with a simulator each; `sim` alone without. */
  readonly gateways?: readonly string[];
  /** Further sources of the `standard` kind that a test plays itself: name and address. */
  readonly played?: Readonly<Record<string, string>>;
  /** Further entries of `sources`, as the configuration file has them. */
  readonly sources?: readonly object[];
  /** As the configuration file has them. */
  readonly policies?: Readonly<Record<string, unknown>>;
  /** Further settings of the configuration file, as `outgoing`. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** API processes; two without. */
  readonly servers?: number;
  /** Puts a proxy between our processes and Temporal. */
  readonly temporalProxy?: boolean;
  /** What stands between our processes and PostgreSQL; they hear its notifications directly. */
  readonly through?: (databaseUrl: string) => string;
  /** The simulators keep what they know over a restart. */
  readonly keepGateways?: boolean;
}

/** An answer of the API; what is in it is asserted by the tests. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The text as JSON. */
  readonly body: any;
}

export interface CallOptions {
  readonly body?: unknown;
  /** Sent as it is in place of `body`. */
  readonly text?: string;
  /** Idempotency-Key. */
  readonly key?: string;
  readonly apiKey?: string;
  /** The client gives up. */
  readonly signal?: AbortSignal;
  /** Which API process; they take turns without. */
  readonly server?: number;
}

export interface DeliverOptions {
  /** The webhook-id; a fresh one without. */
  readonly id?: string;
  readonly source?: string;
  readonly server?: number;
  /** Signs with the secret of this source in place of `source`. */
  readonly secretOf?: string;
}

export interface GatewayRefund {
  readonly refund_id: string;
  readonly payment_id: string;
  readonly amount: number;
  readonly status: string;
  readonly reference: string | null;
}

/** The whole product as real processes: API processes, a worker, simulators, a database and a namespace of its own. */
export interface System {
  readonly db: TestDatabase;
  readonly temporal: TestNamespace;
  readonly servers: readonly TestProcess[];
  readonly worker: TestProcess;
  readonly simulators: Readonly<Record<string, TestProcess>>;
  /** Each source's own side of its secrets; of a played one too. */
  readonly gateways: Readonly<Record<string, SimSettings>>;
  /** With `temporalProxy` only. */
  readonly temporalProxy: TcpProxy;
  /** A key of the client `shop`, which may do everything. */
  readonly apiKey: string;
  /** One more worker. */
  startWorker(): Promise<TestProcess>;
  call(method: 'GET' | 'POST' | 'PATCH', path: string, options?: CallOptions): Promise<Answer>;
  /** Sends one signed webhook as a gateway does. */
  deliver(body: string | Uint8Array | object, options?: DeliverOptions): Promise<Answer>;
  /** Creates an order over the API; one line over `amount` unless lines are given. Answers it. */
  order(order: { id: string; amount?: number } & Record<string, unknown>): Promise<any>;
  /** A payment at the gateway, captured unless said otherwise, of which no webhook is sent. */
  pay(paymentId: string, orderId: string | null, more?: Record<string, unknown>): Promise<void>;
  /** A control of a simulator's. */
  control<T = any>(method: 'GET' | 'POST' | 'PUT', path: string, body?: object, source?: string): Promise<T>;
  refundsAtGateway(paymentId: string, source?: string): Promise<GatewayRefund[]>;
  row<T extends object = any>(sql: string, ...values: unknown[]): Promise<T | undefined>;
  count(from: string, ...values: unknown[]): Promise<number>;
  /** Waits until the order is as described, and answers it as the API shows it. */
  orderIs(id: string, fields: object, limitMs?: number): Promise<any>;
  /** Waits until the event has come to the state, and answers it as the API shows it. */
  eventIs(id: string, state: string, source?: string): Promise<any>;
  /** Waits until nothing is left that the machine does by itself at once; what waits for a named time may go on waiting. */
  settled(limitMs?: number): Promise<void>;
  /** Fails with what the audit finds. */
  expectCleanAudit(): Promise<void>;
  close(): Promise<void>;
}

/** Starts it all and waits until every process is ready. */
export async function openSystem(options: SystemOptions = {}): Promise<System> {
  const [db, temporal] = await Promise.all([createTestDatabase(), createTestNamespace()]);
  const names = options.gateways ?? ['sim'];
  const gateways: Record<string, SimSettings> = {};
  for (const name of names) gateways[name] = await simSettings();
  for (const [name, url] of Object.entries(options.played ?? {})) gateways[name] = { ...(await simSettings()), url };
  const folder = mkdtempSync(join(tmpdir(), 'paidonce-system-'));
  const forgetFolder = mustNotOutliveUs('folder', folder);
  const proxies: TcpProxy[] = [];
  const proxied = async (targets: readonly string[]): Promise<TcpProxy> => {
    const proxy = await startTcpProxy(targets);
    proxies.push(proxy);
    return proxy;
  };
  const temporalProxy = options.temporalProxy === true ? await proxied([temporal.address]) : null;
  const settings: ProcessSettings = {
    databaseUrl: options.through?.(db.url) ?? db.url,
    temporal: { address: temporalProxy?.address ?? temporal.address, namespace: temporal.namespace },
    configFile: writeConfig(folder, gateways, options),
    env: { LOG_LEVEL: 'warn', DATABASE_LISTEN_URL: db.url },
  };
  const ports = await freePorts(
    options.servers ?? 2,
    Object.values(gateways).map((gateway) => gateway.port),
  );
  // The gateways send to whichever API process takes the connection.
  const door = await proxied(ports.map((port) => `127.0.0.1:${port}`));
  const [servers, worker, simulators, apiKey] = await Promise.all([
    Promise.all(ports.map((port) => startProcess('server', { ...settings, port }))),
    startProcess('worker', settings),
    Promise.all(
      names.map(async (name) => {
        const env = { SIMULATOR_STATE_FILE: options.keepGateways === true ? join(folder, `${name}.jsonl`) : 'none' };
        const webhookUrl = `http://${door.address}/webhooks/${name}`;
        return [name, await startProcess('simulator', { ...settings, sim: gatewayOf(name), webhookUrl, env })] as const;
      }),
    ).then((entries) => Object.fromEntries(entries)),
    rotateApiKey(db.url, { client: 'shop', scopes: API_SCOPES }),
  ]);
  let turn = 0;
  let drawn = 0;

  function gatewayOf(name: string): SimSettings {
    const gateway = gateways[name];
    if (gateway === undefined) throw new Error(`This system has no source ${name}.`);
    return gateway;
  }

  function serverUrl(index: number | undefined): string {
    return servers[(index ?? turn++) % servers.length]?.url ?? '';
  }

  async function call(method: string, path: string, { body, text, key, ...rest }: CallOptions = {}): Promise<Answer> {
    const sent = text ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(`${serverUrl(rest.server)}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${rest.apiKey ?? apiKey}`,
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(sent === undefined ? {} : { body: sent }),
      ...(rest.signal === undefined ? {} : { signal: rest.signal }),
    });
    return answerOf(response);
  }

  async function row<T extends object>(sql: string, ...values: unknown[]): Promise<T | undefined> {
    return (await db.pool.query<T>(sql, values)).rows[0];
  }

  /** Its last sight is part of the complaint: a test that waits in vain says what it saw. */
  async function seen(what: string, path: string, fits: (body: any) => boolean, limitMs = PATIENCE_MS): Promise<any> {
    let last: Answer | null = null;
    return eventually(
      what,
      async () => {
        last = await call('GET', path);
        return last.status === 200 && fits(last.body) ? (last.body as unknown) : null;
      },
      limitMs,
    ).catch((error: unknown) => {
      throw new Error(`${(error as Error).message}; last seen: ${last?.text ?? 'nothing'}`);
    });
  }

  return {
    ...{ db, temporal, servers, worker, simulators, gateways, apiKey, call, row },
    get temporalProxy() {
      if (temporalProxy === null) throw new Error('This system reaches Temporal without a proxy.');
      return temporalProxy;
    },
    startWorker: () => startProcess('worker', settings),
    async deliver(body, { id = `evt_drawn_${++drawn}`, source = 'sim', server, secretOf } = {}) {
      const { webhookSecret } = gatewayOf(secretOf ?? source);
      return answerOf(
        await fetch(`${serverUrl(server)}/webhooks/${source}`, signedWebhook(webhookSecret, body, { id })),
      );
    },
    async order({ id, amount = 10_000, ...more }) {
      const body = {
        ...{ id, amount, currency: 'EUR', customer: { id: `cus_${id}` } },
        lines: [{ id: 'l1', kind: 'booking', amount }],
        ...more,
      };
      const answer = await call('POST', '/v1/orders', { key: `make ${id}`.replaceAll(' ', '_'), body });
      if (answer.status !== 201) throw new Error(`order ${id}: ${answer.status} ${answer.text}`);
      return answer.body as unknown;
    },
    async pay(payment_id, order_id, { source = 'sim', ...more } = {}) {
      const payment = { payment_id, order_id, amount: 10_000, currency: 'EUR', deliver: false, ...more };
      await control(gatewayOf(source as string), 'POST', '/payments', payment);
    },
    control: (method, path, body, source = 'sim') => control(gatewayOf(source), method, path, body),
    async refundsAtGateway(paymentId, source = 'sim') {
      const { url, apiKey: key } = gatewayOf(source);
      const answer = await fetch(`${url}/refunds?payment_id=${encodeURIComponent(paymentId)}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      return ((await answer.json()) as { data: GatewayRefund[] }).data;
    },
    async count(from, ...values) {
      return Number((await row<{ n: bigint }>(`select count(*) as n from ${from}`, ...values))?.n);
    },
    orderIs: (id, fields, limitMs) =>
      seen(
        `order ${id} is ${JSON.stringify(fields)}`,
        `/v1/orders/${encodeURIComponent(id)}`,
        (body) => matches(body, fields),
        limitMs,
      ),
    eventIs: (id, state, source = 'sim') =>
      seen(
        `event ${id} is ${state}`,
        `/v1/events/${source}/${encodeURIComponent(id)}`,
        (body: { state: string }) => body.state === state,
      ),
    async settled(limitMs = PATIENCE_MS) {
      let left: unknown;
      await eventually(
        'all that the machine does by itself is done',
        async () => {
          left = await row<Record<string, bigint>>(`
            select (select count(*) from webhook_events where (state = 'pending' and next_look_at is null) or look_again_at is not null) as events,
                   (select count(*) from outbox where published_at is null) as outbox,
                   (select count(*) from refunds where status in ('pending', 'unknown')) as refunds`);
          return Object.values(left as object).every((n) => n === 0n);
        },
        limitMs,
      ).catch((error: unknown) => {
        const shown = JSON.stringify(left, (_name, n: unknown) => (typeof n === 'bigint' ? Number(n) : n));
        throw new Error(`${(error as Error).message}; left: ${shown}`);
      });
    },
    async expectCleanAudit() {
      const report = await runAudit(db.pool);
      expect(report.violations).toEqual([]);
      expect(report.ok).toBe(true);
    },
    async close() {
      await Promise.all([...servers, worker, ...Object.values(simulators)].map((one) => one.kill('SIGKILL')));
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await temporal.close();
      await db.drop();
      rmSync(folder, { recursive: true, force: true });
      forgetFolder();
    },
  };
}

function writeConfig(folder: string, gateways: Readonly<Record<string, SimSettings>>, options: SystemOptions): string {
  const file = join(folder, 'paidonce.json');
  const sources = Object.entries(gateways).map(([name, { url, apiKey, webhookSecret }]) => ({
    ...{ name, kind: 'standard', mode: 'test', api_base: url, api_key: apiKey },
    webhook_secrets: [{ secret: webhookSecret }],
  }));
  const config = {
    sources: [...sources, ...(options.sources ?? [])],
    policies: options.policies ?? {},
    ...options.config,
  };
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  let body: unknown = null;
  try {
    body = JSON.parse(text);
  } catch {
    // The text is there for those who want to know what came instead.
  }
  return { status: response.status, headers: response.headers, text, body };
}

/** Whether an answer holds these fields, each of them whole. */
function matches(body: Record<string, unknown>, fields: object): boolean {
  return Object.entries(fields).every(([name, value]) => JSON.stringify(body[name]) === JSON.stringify(value));
}

/** The body of an event of the `standard` protocol about a payment. */
export function paymentEvent(paymentId: string, orderId: string | null, more: Record<string, unknown> = {}) {
  const { type = 'payment.captured', ...data } = more;
  const status = (type as string).split('.')[1];
  return {
    type,
    timestamp: new Date().toISOString(),
    data: { payment_id: paymentId, order_id: orderId, status, amount: 10_000, currency: 'EUR', ...data },
  };
}
