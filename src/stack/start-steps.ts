import type { Ports } from './choose-ports.ts';
import type { DevSecrets } from './dev-secrets.ts';
import type { Service } from './keep-running.ts';
import { prepareDatabase } from './prepare-database.ts';
import { prepareTemporal } from './prepare-temporal.ts';
import type { StepReport } from './report-steps.ts';
import { ownServices, postgresService, temporalService } from './stack-services.ts';
import type { StackSettings } from './stack-settings.ts';
import type { StateFolder } from './state-folder.ts';

/** The processes of a stack. */
export type Part = 'api' | 'worker' | 'simulator' | 'temporal' | 'postgres';

/** What the steps of one start share. */
export interface StartContext {
  readonly root: string;
  readonly folder: StateFolder;
  readonly ports: Ports;
  readonly settings: StackSettings;
  readonly secrets: DevSecrets;
  /** The secrets were made by this start, so that older data may know others. */
  readonly secretsAreNew: boolean;
  readonly report: StepReport;
  readonly stopped: AbortSignal;
  /** Starts a part and keeps it running from then on. */
  readonly start: (part: Part, service: Service) => Promise<void>;
}

/** PostgreSQL, migrated. Resolves with the developer's API key. */
export async function databaseSteps(context: StartContext): Promise<string> {
  const { folder, ports, settings, secrets, report } = context;
  if (settings.ownPostgres) {
    const service = postgresService({
      dataFolder: folder.postgres,
      port: ports.PGPORT,
      password: secrets.postgresPassword,
      passwordIsNew: context.secretsAreNew,
      logFile: folder.log('postgres'),
    });
    await report.step('PostgreSQL', async () => {
      await context.start('postgres', service);
      return { at: `127.0.0.1:${String(ports.PGPORT)}` };
    });
  }
  const { apiKey } = await report.step('Database', async () => {
    const prepared = await prepareDatabase(settings.databaseUrl);
    const count = prepared.migrations.length;
    return { ...prepared, at: count === 0 ? 'up to date' : `${String(count)} migrations run` };
  });
  return apiKey;
}

/** Temporal, with its namespace and search attributes. */
export async function temporalSteps(context: StartContext): Promise<void> {
  const { folder, ports, settings, report, stopped } = context;
  await report.step('Temporal', async () => {
    if (settings.ownTemporal) {
      const where = { port: ports.TEMPORAL_PORT, uiPort: ports.TEMPORAL_UI_PORT };
      await context.start('temporal', temporalService({ folder, ...where, say: report.line, stopped }));
    }
    await prepareTemporal(settings, report.line);
    return { at: `${settings.temporalAddress}, namespace ${settings.namespace}` };
  });
}

/** The API, the worker and the simulator, side by side. */
export function ownSteps(context: StartContext): Promise<unknown>[] {
  const { root, folder, settings, report } = context;
  const { api, worker, simulator } = ownServices(root, settings.childEnv, folder);
  const step = (part: Part, service: Service, at: string): Promise<unknown> =>
    report.step(service.name, async () => {
      await context.start(part, service);
      return { at };
    });
  return [
    step('api', api, settings.apiUrl),
    step('worker', worker, 'polls its task queues'),
    step('simulator', simulator, settings.simulatorUrl),
  ];
}
