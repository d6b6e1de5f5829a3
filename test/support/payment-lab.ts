import type { Client } from '@temporalio/client';
import { startSimulator, type Simulator } from '../../src/gateways/simulator/start-simulator.ts';
import type { Policies } from '../../src/domain/policies.ts';
import type { Consumer } from '../../src/notify/consumer.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { standardSource, startEngine, TEST_WEBHOOK_SECRET, type Engine, type EngineOptions } from './engine.ts';
import { createTestNamespace } from './temporal.ts';

/** A database, a gateway and an engine, wired as in production but inside the test's process. */
export interface PaymentLab {
  readonly db: TestDatabase;
  readonly client: Client;
  readonly simulator: Simulator;
  readonly engine: Engine;
  /** One of the simulator's controls. */
  control(path: string, body?: unknown, method?: 'POST' | 'PUT'): Promise<Record<string, unknown>>;
  /** A payment at the gateway, captured unless said otherwise, whose webhook is not sent. */
  pay(paymentId: string, orderId: string | null, more?: object): Promise<void>;
  /** What the gateway holds, as it tells it. */
  refundsAtGateway(paymentId: string): Promise<{ amount: number; status: string; reference: string | null }[]>;
  row<T extends object>(sql: string, ...values: unknown[]): Promise<T | undefined>;
  close(): Promise<void>;
}

export interface LabTemporal {
  readonly address: string;
  readonly namespace: string;
  readonly client: Client;
  close(): Promise<void>;
}

export async function openPaymentLab(
  options: {
    readonly temporal?: LabTemporal;
    readonly policies?: Partial<Policies>;
    readonly relay?: boolean;
    readonly alerts?: EngineOptions['alerts'];
    readonly consumers?: (pool: TestDatabase['pool']) => readonly Consumer[];
  } = {},
): Promise<PaymentLab> {
  const [db, temporal, simulator] = await Promise.all([
    createTestDatabase(),
    options.temporal ?? createTestNamespace(),
    startSimulator({ apiKey: 'sim-key', webhookSecret: TEST_WEBHOOK_SECRET, webhookUrl: null }),
  ]);
  const engine = await startEngine({
    pool: db.pool,
    address: temporal.address,
    namespace: temporal.namespace,
    client: temporal.client,
    sources: [standardSource(simulator.url)],
    ...(options.policies === undefined ? {} : { policies: options.policies }),
    ...(options.relay === undefined ? {} : { relay: options.relay }),
    ...(options.alerts === undefined ? {} : { alerts: options.alerts }),
    ...(options.consumers === undefined ? {} : { consumers: options.consumers(db.pool) }),
  });
  const control = async (path: string, body: unknown = {}, method = 'POST') => {
    const answer = await fetch(`${simulator.url}/sim/${path}`, { method, body: JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
  return {
    ...{ db, client: temporal.client, simulator, engine, control },
    async pay(payment_id, order_id, more = {}) {
      await control('payments', { payment_id, order_id, amount: 10_000, currency: 'EUR', deliver: false, ...more });
    },
    async refundsAtGateway(paymentId) {
      const answer = await fetch(`${simulator.url}/refunds?payment_id=${encodeURIComponent(paymentId)}`, {
        headers: { authorization: 'Bearer sim-key' },
      });
      return ((await answer.json()) as { data: { amount: number; status: string; reference: string | null }[] }).data;
    },
    async row<T extends object>(sql: string, ...values: unknown[]) {
      return (await db.pool.query<T>(sql, values)).rows[0];
    },
    async close() {
      await engine.stop();
      await simulator.close();
      await temporal.close();
      await db.drop();
    },
  };
}
