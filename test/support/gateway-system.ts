import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../src/stack/ports.ts';
import { apiCaller, type ApiCaller } from './api-client.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { eventually } from './eventually.ts';
import { startProcess, type ProcessSettings, type SimSettings, type TestProcess } from './processes.ts';
import { createTestNamespace } from './temporal.ts';

/** The whole system as processes, with its own database and namespace, and configured sources. */
export interface GatewaySystem {
  readonly database: TestDatabase;
  readonly server: TestProcess;
  readonly worker: TestProcess;
  readonly shop: ApiCaller;
  /** Creates an order of one booking over the API; its id. */
  order(order?: { readonly currency?: string; readonly amount?: number }): Promise<string>;
  /** The order as the API shows it, once the condition holds. */
  orderThat(what: string, orderId: string, holds: (order: any) => boolean, limitMs?: number): Promise<any>;
  /** Waits until this many deliveries of events about the payment have come, and all of them are settled. */
  settled(paymentId: string, deliveries: number): Promise<void>;
  rows<T extends object = any>(sql: string, ...values: unknown[]): Promise<T[]>;
  close(): Promise<void>;
}

/** @param sources as PAIDONCE_CONFIG names them */
export async function startGatewaySystem(sources: object[], sim?: SimSettings): Promise<GatewaySystem> {
  const folder = await mkdtemp(join(tmpdir(), 'paidonce-config-'));
  const configFile = join(folder, 'paidonce.json');
  await writeFile(configFile, JSON.stringify({ sources }));
  const [database, temporal, [port = 0]] = await Promise.all([
    createTestDatabase(),
    createTestNamespace(),
    freePorts(1),
  ]);
  const settings: ProcessSettings = {
    databaseUrl: database.url,
    temporal,
    configFile,
    ...(sim === undefined ? {} : { sim, webhookUrl: `http://127.0.0.1:${port}/webhooks/sim` }),
    env: { LOG_LEVEL: 'warn' },
  };
  const [server, worker, simulator] = await Promise.all([
    startProcess('server', { ...settings, port }),
    startProcess('worker', settings),
    sim === undefined ? null : startProcess('simulator', { ...settings, env: { SIMULATOR_STATE_FILE: 'none' } }),
  ]);
  const shop = await apiCaller(database, server.url);
  const rows = async (sql: string, ...values: unknown[]) => (await database.pool.query(sql, values)).rows;

  return {
    ...{ database, server, worker, shop, rows },
    async order({ currency = 'EUR', amount = 1999 } = {}) {
      const body = { currency, amount, customer: { id: 'cus_1' }, lines: [{ id: 'l1', kind: 'booking', amount }] };
      const created = await shop.post('/v1/orders', body, { 'idempotency-key': randomUUID() });
      if (created.status !== 201) throw new Error(created.text);
      return created.body.id as string;
    },
    orderThat: (what, orderId, holds, limitMs) =>
      eventually(
        `order ${orderId} ${what}`,
        async () => {
          const { body } = await shop.get(`/v1/orders/${orderId}`);
          return holds(body) && body;
        },
        limitMs,
      ),
    async settled(paymentId, deliveries) {
      await eventually(`${deliveries} deliveries of ${paymentId}, all settled`, async () => {
        const [found] = await rows(
          `select count(*)::int as deliveries, count(*) filter (where e.state = 'pending')::int as pending
           from webhook_events e join webhook_deliveries d using (source, event_id) where e.payment_id = $1`,
          paymentId,
        );
        return found?.deliveries === deliveries && found.pending === 0;
      });
    },
    async close() {
      await Promise.all([server.kill('SIGTERM'), worker.kill('SIGTERM'), simulator?.kill('SIGTERM')]);
      await temporal.close();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
