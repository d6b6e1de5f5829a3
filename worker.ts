/** Process: the Temporal worker with all workflows and activities, and the relay. Any number of them may run. */
import { NativeConnection, Runtime, Worker, DefaultLogger } from '@temporalio/worker';
import { Client, Connection } from '@temporalio/client';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createActivities, createDeliveryActivities, createMoneyActivities } from './src/activities/index.ts';
import { retryInterceptor } from './src/activities/retry-interceptor.ts';
import { watchCredentials } from './src/activities/watch-credentials.ts';
import { configWarnings, loadConfigOrExit, summariseConfig } from './src/config.ts';
import { readEndpointTarget } from './src/database/endpoint-secrets.ts';
import { createPool } from './src/database/pool.ts';
import type { UnfinishedWork } from './src/database/unfinished-work.ts';
import { openWorkChannel } from './src/database/work-channel.ts';
import { SHUTDOWN_TIMES } from './src/domain/shutdown-times.ts';
import type { Source } from './src/gateways/admitted.ts';
import { createGateway } from './src/gateways/create-gateway.ts';
import { createAlertChannels } from './src/notify/alerts/create-alert-channels.ts';
import { createMailer } from './src/notify/mail/create-mailer.ts';
import { createAddressGuard } from './src/notify/address-guard.ts';
import { createConsumers, typesOf } from './src/notify/consumers/index.ts';
import { confirmPayment, type ConfirmCall } from './src/relay/confirm-payment.ts';
import { ensureSchedules } from './src/relay/ensure-schedules.ts';
import { startRelayLoop, type RelayLoop } from './src/relay/relay-loop.ts';
import { restartUnfinished } from './src/relay/start-requested.ts';
import { createSweepAlerts } from './src/relay/sweep-alerts.ts';
import { sweepInbox } from './src/relay/sweep-inbox.ts';
import { sweepOutbox } from './src/relay/sweep-outbox.ts';
import { createLogger } from './src/telemetry/log.ts';
import { startMetricsListener } from './src/telemetry/metrics-listener.ts';
import { createMetrics } from './src/telemetry/metrics.ts';
import { DELIVERY_TASK_QUEUE, GATEWAY_TASK_QUEUE, TASK_QUEUE } from './src/workflows/messages.ts';

const { grace, force, lastResort } = SHUTDOWN_TIMES.worker;

const config = loadConfigOrExit(process.env);
const log = createLogger(config.logLevel, 'worker');
log.info({ config: summariseConfig(config) }, 'worker starts');
for (const warning of configWarnings(config)) log.warn(warning);

// Ctrl-C reaches the whole process group: the order of shutting down is this process's own affair.
Runtime.install({
  shutdownSignals: [],
  logger: new DefaultLogger('WARN', (entry) => {
    log[entry.level === 'ERROR' ? 'error' : 'warn']({ temporal: entry.meta?.['sdkComponent'] }, entry.message);
  }),
});

const metrics = createMetrics();
const pool = createPool({ ...config.database, max: config.database.poolMax, applicationName: 'paidonce-worker' });
const sources = new Map<string, Source>(
  config.sources.map((source) => [
    source.name,
    {
      gateway: watchCredentials(pool, createGateway(source, { toleranceMs: config.policies.webhookToleranceMs })),
      mode: source.mode,
    },
  ]),
);
const mailer = config.mail === null ? null : createMailer(config.mail);
const alertChannels = createAlertChannels(config.alerts, {
  ...{ mailer, now: Date.now },
  log: (fields, message) => log.warn(fields, message),
});
const { address, namespace } = config.temporal;
const connection = await NativeConnection.connect({ address }).catch((err: unknown) => {
  log.fatal({ err, address }, 'Temporal cannot be reached: start it, or set TEMPORAL_ADDRESS');
  process.exit(1);
});
const clientConnection = await Connection.connect({ address });
const client = new Client({ connection: clientConnection, namespace });
await ensureSchedules(
  client,
  log,
  [...sources].map(([name, { gateway }]) => ({ name, listsEvents: gateway.capabilities.listsEvents !== null })),
);

const relay: RelayLoop[] = [];
const wakeRelay = () => {
  for (const loop of relay) loop.wake();
};
// Work that other processes, the API first, leave for the relays.
const work = openWorkChannel(config.database.listenUrl, wakeRelay);
const consumers = createConsumers({
  ...{ mailer, sinks: config.sinks },
  guard: createAddressGuard(config.outgoing.allowNetworks),
  readEndpoint: (id) => readEndpointTarget(pool, id),
});
const deps = {
  ...{ pool, sources, policies: config.policies, metrics, wakeRelay, consumers, log },
  alerts: { channels: alertChannels, remindAfterMs: config.alerts.remindAfterMs },
  confirmPayment: async (call: ConfirmCall) => void (await confirmPayment(client.workflow, call)),
  restartUnfinished: (work: UnfinishedWork) => restartUnfinished(client.workflow, work),
};
const common = {
  ...{ connection, namespace, shutdownGraceTime: grace, shutdownForceTime: force },
  interceptors: { activity: [retryInterceptor] },
};
/** `npm run build` puts the bundle beside this file; from source it is made now, which takes a second or two. */
function workflows() {
  const built = fileURLToPath(new URL('./workflows.cjs', import.meta.url));
  const codePath = config.workflowBundle ?? (existsSync(built) ? built : null);
  if (codePath !== null) return { workflowBundle: { codePath } };
  return { workflowsPath: fileURLToPath(new URL('./src/workflows/index.ts', import.meta.url)) };
}
const workers = await Promise.all([
  Worker.create({
    ...common,
    taskQueue: TASK_QUEUE,
    ...workflows(),
    activities: createActivities(deps),
  }),
  Worker.create({ ...common, taskQueue: GATEWAY_TASK_QUEUE, activities: createMoneyActivities(deps) }),
  Worker.create({ ...common, taskQueue: DELIVERY_TASK_QUEUE, activities: createDeliveryActivities(deps) }),
]);

const consumerTypes = typesOf(consumers);
for (const [name, sweep] of [
  ['inbox', sweepInbox],
  ['outbox', sweepOutbox],
  ['alerts', createSweepAlerts(config.alerts.channels)],
] as const) {
  relay.push(
    startRelayLoop({
      sweep: () => sweep({ pool, client: client.workflow, metrics, log, consumerTypes, batch: config.relay.batch }),
      pollMs: config.relay.pollMs,
      onError: (err) => log.warn({ relay: name, err }, 'relay sweep failed; the next one follows'),
    }),
  );
}

const counts =
  config.workerMetrics === null
    ? null
    : await startMetricsListener({ registry: metrics.registry, ...config.workerMetrics });

let stopping = false;
function shutDown(signal: string): void {
  if (stopping) return;
  stopping = true;
  log.info({ signal }, 'worker stops');
  setTimeout(() => process.exit(1), lastResort).unref();
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
}
process.on('SIGTERM', shutDown);
process.on('SIGINT', shutDown);

const running = workers.map((worker) => worker.run());
process.send?.({ ready: true });
const queues = [TASK_QUEUE, GATEWAY_TASK_QUEUE, DELIVERY_TASK_QUEUE];
log.info({ task_queues: queues, metrics_port: counts?.port }, 'worker ready');
try {
  await Promise.all(running);
} finally {
  await Promise.all(relay.map((loop) => loop.stop()));
  await counts?.close();
  await work.close();
  await clientConnection.close();
  await connection.close();
  await pool.end();
}
log.info('worker stopped');
process.exit(0);
