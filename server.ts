/** Process: the HTTP API. Any number of them may run. It starts, and takes webhooks, with Temporal away. */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { createServer } from './src/api/create-server.ts';
import type { Source } from './src/gateways/admitted.ts';
import { createHandOvers } from './src/api/receive/hand-overs.ts';
import { createRefusalCounter } from './src/api/receive/refusal-counter.ts';
import { configWarnings, loadConfigOrExit, summariseConfig } from './src/config.ts';
import { runAudit } from './src/database/audit.ts';
import { maintainPartitions } from './src/database/partitions.ts';
import { createPool } from './src/database/pool.ts';
import { saveRefusals } from './src/database/refusals.ts';
import { openWorkChannel } from './src/database/work-channel.ts';
import { SHUTDOWN_TIMES } from './src/domain/shutdown-times.ts';
import { createGateway } from './src/gateways/create-gateway.ts';
import { handOver } from './src/relay/hand-over.ts';
import { createAddressGuard } from './src/notify/address-guard.ts';
import { createOutgoing } from './src/notify/create-outgoing.ts';
import { createLogger } from './src/telemetry/log.ts';
import { createMetrics } from './src/telemetry/metrics.ts';

/** A hand-over that Temporal does not take by then is the relay's. */
const HAND_OVER_MS = 5_000;
const CONNECT_TIMEOUT = '3s';
/** Partitions exist months ahead; looking each hour is plenty. */
const PARTITIONS_EVERY_MS = 3_600_000;
const { drain, handOvers: lastHandOvers, lastResort } = SHUTDOWN_TIMES.api;

const config = loadConfigOrExit(process.env);
const { database, policies } = config;
const log = createLogger(config.logLevel, 'server');
log.info({ config: summariseConfig(config) }, 'server starts');
for (const warning of configWarnings(config)) log.warn(warning);

const metrics = createMetrics();
const pool = createPool({ ...database, max: database.poolMax, applicationName: 'paidonce-server' });
const { address, namespace } = config.temporal;
const connection = Connection.lazy({ address, connectTimeout: CONNECT_TIMEOUT });
const temporal = new Client({ connection, namespace });
const sources = new Map<string, Source>(
  config.sources.map((source) => [
    source.name,
    { gateway: createGateway(source, { toleranceMs: policies.webhookToleranceMs }), mode: source.mode },
  ]),
);
const work = openWorkChannel(database.listenUrl, () => undefined);
const handOvers = createHandOvers({
  handOver: ([event, ...others]) =>
    temporal.withDeadline(Date.now() + HAND_OVER_MS, () =>
      handOver({ client: temporal.workflow, pool }, event, others),
    ),
  log,
});
const refusals = createRefusalCounter({ save: (counted) => saveRefusals(pool, counted), log });
const uiUrl = process.env['TEMPORAL_UI_URL'];

const server = createServer({
  ...{ pool, temporal, sources, policies, handOvers, refusals, metrics, log },
  wakeRelays: () => {
    work.announce();
  },
  audit: () => runAudit(pool, { loyaltyPointsPerMajorUnit: policies.loyaltyPointsPerMajorUnit }),
  temporalUi: uiUrl === undefined || uiUrl === '' ? null : { url: uiUrl, namespace },
  outgoing: createOutgoing(createAddressGuard(config.outgoing.allowNetworks)),
  mailConfigured: config.mail !== null,
  alertChannels: config.alerts.channels,
  now: Date.now,
});

function keepPartitions(): void {
  maintainPartitions(pool, Date.now()).then(
    ({ created, dropped }) => {
      if (created.length + dropped.length > 0) log.info({ created, dropped }, 'partitions of deliveries kept');
    },
    // The default partition takes what has no other, so nothing is lost while this fails.
    (err: unknown) => log.warn({ err }, 'partitions of deliveries not kept; tried again within the hour'),
  );
}

let stopping = false;
async function shutDown(signal: string): Promise<void> {
  if (stopping) return;
  stopping = true;
  log.info({ signal }, 'server stops');
  setTimeout(() => process.exit(1), lastResort).unref();
  clearInterval(partitions);
  refusals.stop();
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  setTimeout(() => server.closeAllConnections(), drain).unref();
  await closed;
  await Promise.race([handOvers.idle(), delay(lastHandOvers)]);
  await refusals.flush();
  await work.close();
  await connection.close();
  await pool.end();
  log.info('server stopped');
  process.exit(0);
}
process.on('SIGTERM', (signal) => void shutDown(signal));
process.on('SIGINT', (signal) => void shutDown(signal));

keepPartitions();
const partitions = setInterval(keepPartitions, PARTITIONS_EVERY_MS);
server.listen(config.http.port, config.http.host);
await once(server, 'listening');
process.send?.({ ready: true });
log.info({ host: config.http.host, port: config.http.port }, 'server ready');
