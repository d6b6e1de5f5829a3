import { ConfigError, loadConfig } from '../config.ts';
import type { DevSecrets } from './dev-secrets.ts';
import type { Ports, PortVariable } from './choose-ports.ts';
import { postgresUrl } from './postgres-settings.ts';
import { StartError } from './start-error.ts';
import { withoutPostgresVariables } from './start-postgres.ts';

/** What is started here, and what is somewhere else. */
export interface StackSettings {
  readonly ownPostgres: boolean;
  readonly ownTemporal: boolean;
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly namespace: string;
  readonly apiUrl: string;
  readonly simulatorUrl: string;
  /** Where the worker shows its counts. */
  readonly workerMetricsUrl: string;
  /** Null: a Temporal of somebody else's, and nobody said where its UI is. */
  readonly temporalUiUrl: string | null;
  /** What our processes are started with. */
  readonly childEnv: NodeJS.ProcessEnv;
}

/** The ports that a start needs under this environment. */
export function neededPorts(env: NodeJS.ProcessEnv): PortVariable[] {
  return [
    'PORT',
    'SIMULATOR_PORT',
    'WORKER_METRICS_PORT',
    ...(isSet(env['TEMPORAL_ADDRESS']) ? [] : (['TEMPORAL_PORT', 'TEMPORAL_UI_PORT'] as const)),
    ...(isSet(env['DATABASE_URL']) ? [] : (['PGPORT'] as const)),
  ];
}

/** Throws a StartError that lists every mistake in the configuration. */
export function stackSettings(env: NodeJS.ProcessEnv, ports: Ports, secrets: DevSecrets): StackSettings {
  const ownPostgres = !isSet(env['DATABASE_URL']);
  const ownTemporal = !isSet(env['TEMPORAL_ADDRESS']);
  const databaseUrl = env['DATABASE_URL'] || postgresUrl({ port: ports.PGPORT, password: secrets.postgresPassword });
  const temporalAddress = env['TEMPORAL_ADDRESS'] || `127.0.0.1:${String(ports.TEMPORAL_PORT)}`;
  const namespace = env['TEMPORAL_NAMESPACE'] || 'default';
  const apiUrl = `http://127.0.0.1:${String(ports.PORT)}`;
  const simulatorUrl = `http://127.0.0.1:${String(ports.SIMULATOR_PORT)}`;
  const ownUi = `http://127.0.0.1:${String(ports.TEMPORAL_UI_PORT)}`;
  const temporalUiUrl = ownTemporal ? ownUi : env['TEMPORAL_UI_URL'] || null;
  const childEnv = {
    ...(ownPostgres ? withoutPostgresVariables(env) : env),
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_NAMESPACE: namespace,
    ...(temporalUiUrl === null ? {} : { TEMPORAL_UI_URL: temporalUiUrl }),
    HOST: '127.0.0.1',
    PORT: String(ports.PORT),
    SIMULATOR_PORT: String(ports.SIMULATOR_PORT),
    WORKER_METRICS_PORT: String(ports.WORKER_METRICS_PORT),
    PAIDONCE_SIM_URL: simulatorUrl,
    PAIDONCE_SIM_API_KEY: secrets.simApiKey,
    PAIDONCE_SIM_WEBHOOK_SECRET: secrets.simWebhookSecret,
    PAIDONCE_WEBHOOK_URL: `${apiUrl}/webhooks/sim`,
  };
  try {
    loadConfig(childEnv);
  } catch (error) {
    if (error instanceof ConfigError) throw new StartError(error.message);
    throw error;
  }
  return {
    ownPostgres,
    ownTemporal,
    databaseUrl,
    temporalAddress,
    namespace,
    apiUrl,
    simulatorUrl,
    workerMetricsUrl: `http://127.0.0.1:${String(ports.WORKER_METRICS_PORT)}/metrics`,
    temporalUiUrl,
    childEnv,
  };
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}
