import type { Client } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { createActivities, createDeliveryActivities, createMoneyActivities } from '../../src/activities/index.ts';
import type { Source } from '../../src/gateways/admitted.ts';
import { retryInterceptor } from '../../src/activities/retry-interceptor.ts';
import { createSweepAlerts } from '../../src/relay/sweep-alerts.ts';
import type { AlertChannel } from '../../src/notify/alerts/alert-channel.ts';
import { DEFAULT_REMIND_AFTER_MS } from '../../src/domain/plan-alerts.ts';
import { watchCredentials } from '../../src/activities/watch-credentials.ts';
import { readEndpointTarget } from '../../src/database/endpoint-secrets.ts';
import type { Pool } from '../../src/database/pool.ts';
import type { UnfinishedWork } from '../../src/database/unfinished-work.ts';
import { DEFAULT_POLICIES, type Policies } from '../../src/domain/policies.ts';
import type { Gateway } from '../../src/gateways/gateway.ts';
import { createStandardGateway } from '../../src/gateways/standard/create-standard-gateway.ts';
import { createAddressGuard } from '../../src/notify/address-guard.ts';
import type { Consumer } from '../../src/notify/consumer.ts';
import { createConsumers, typesOf } from '../../src/notify/consumers/index.ts';
import { confirmPayment, type ConfirmCall } from '../../src/relay/confirm-payment.ts';
import { startRelayLoop } from '../../src/relay/relay-loop.ts';
import { restartUnfinished } from '../../src/relay/start-requested.ts';
import { sweepInbox } from '../../src/relay/sweep-inbox.ts';
import { sweepOutbox } from '../../src/relay/sweep-outbox.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts';
import { DELIVERY_TASK_QUEUE, GATEWAY_TASK_QUEUE, TASK_QUEUE } from '../../src/workflows/messages.ts';
import { askForService } from './ask-for-service.ts';
import type { WorkflowsService } from './services.ts';

// A test's own output is what its reader looks for; the engine speaks up about trouble only.
Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
/** A gateway of the `standard` protocol at `url`, as configuration would make it. */
export function standardSource(url: string, name = 'sim'): [string, Source] {
  const gateway: Gateway = createStandardGateway(
    {
      name,
      kind: 'standard',
      mode: 'test',
      apiBase: url,
      apiKey: 'sim-key',
      accountNumber: null,
      webhookSecrets: [{ secret: TEST_WEBHOOK_SECRET, eventsBefore: null }],
      extensions: ['capture', 'void'],
    },
    { toleranceMs: DEFAULT_POLICIES.webhookToleranceMs },
  );
  return [name, { gateway, mode: 'test' }];
}

export const TEST_WEBHOOK_SECRET = `whsec_${Buffer.from('a secret of twenty-four b').toString('base64')}`;

export interface Engine {
  readonly metrics: Metrics;
  stop(): Promise<void>;
}

export interface EngineOptions {
  readonly pool: Pool;
  readonly address: string;
  readonly namespace: string;
  readonly client: Client;
  readonly sources: readonly [string, Source][];
  readonly policies?: Partial<Policies>;
  readonly relay?: boolean;
  /** Where people are told, and after how long they are reminded; without, nobody is. */
  readonly alerts?: { readonly channels: readonly AlertChannel[]; readonly remindAfterMs?: number };
  /** Who is told of announced events; those of the product without, which may call this machine. */
  readonly consumers?: readonly Consumer[];
}

/** What worker.ts does, inside the test's process: both workers, and the relay unless it is left out. */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const connection = await NativeConnection.connect({ address: options.address });
  const metrics = createMetrics();
  const channels = options.alerts?.channels ?? [];
  const log = createLogger('silent', 'test');
  const loops: ReturnType<typeof startRelayLoop>[] = [];
  const consumers =
    options.consumers ??
    createConsumers({
      ...{ mailer: null, sinks: [] },
      guard: createAddressGuard(['127.0.0.0/8']),
      readEndpoint: (id) => readEndpointTarget(options.pool, id),
    });
  const deps = {
    ...{ consumers, log },
    pool: options.pool,
    sources: new Map(
      options.sources.map(([name, source]) => [
        name,
        { ...source, gateway: watchCredentials(options.pool, source.gateway) },
      ]),
    ),
    policies: { ...DEFAULT_POLICIES, ...options.policies },
    metrics,
    alerts: { channels, remindAfterMs: options.alerts?.remindAfterMs ?? DEFAULT_REMIND_AFTER_MS },
    confirmPayment: async (call: ConfirmCall) => void (await confirmPayment(options.client.workflow, call)),
    restartUnfinished: (work: UnfinishedWork) => restartUnfinished(options.client.workflow, work),
    wakeRelay: () => {
      for (const loop of loops) loop.wake();
    },
  };
  const common = { connection, namespace: options.namespace, interceptors: { activity: [retryInterceptor] } };
  const workers = await Promise.all([
    Worker.create({
      ...common,
      taskQueue: TASK_QUEUE,
      workflowBundle: await askForService<WorkflowsService>('/workflows'),
      activities: createActivities(deps),
    }),
    Worker.create({ ...common, taskQueue: GATEWAY_TASK_QUEUE, activities: createMoneyActivities(deps) }),
    Worker.create({ ...common, taskQueue: DELIVERY_TASK_QUEUE, activities: createDeliveryActivities(deps) }),
  ]);
  const running = workers.map((worker) => worker.run());
  const consumerTypes = typesOf(consumers);
  if (options.relay ?? true) {
    const sweepAlerts = createSweepAlerts(channels.map(({ name }) => name));
    for (const sweep of [sweepInbox, sweepOutbox, ...(channels.length > 0 ? [sweepAlerts] : [])]) {
      loops.push(
        startRelayLoop({
          sweep: () =>
            sweep({ pool: options.pool, client: options.client.workflow, metrics, log, consumerTypes, batch: 100 }),
          pollMs: 50,
          onError: () => undefined,
        }),
      );
    }
  }
  return {
    metrics,
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await Promise.all(running);
      await connection.close();
    },
  };
}
