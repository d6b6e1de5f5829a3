import { SHUTDOWN_TIMES } from '../domain/shutdown-times.ts';
import { findTemporalProgram } from './find-temporal-program.ts';
import type { Service } from './keep-running.ts';
import { nodeService } from './node-service.ts';
import type { PostgresSettings } from './postgres-settings.ts';
import { startPostgres } from './start-postgres.ts';
import { startTemporal } from './start-temporal.ts';
import type { StateFolder } from './state-folder.ts';
import { TEMPORAL_CLI } from './temporal-programs.ts';

const { api, worker, simulator, stack } = SHUTDOWN_TIMES;

export function postgresService(settings: PostgresSettings): Service {
  let passwordIsNew = settings.passwordIsNew ?? false;
  return {
    name: 'PostgreSQL',
    // A fast shutdown: SIGTERM would wait until the last client has gone by itself.
    signal: 'SIGINT',
    graceMs: stack.engines,
    start: async (launched) => {
      await startPostgres({ ...settings, passwordIsNew }, launched);
      passwordIsNew = false;
    },
  };
}

export interface TemporalServiceSettings {
  readonly folder: StateFolder;
  readonly port: number;
  readonly uiPort: number;
  readonly say: (line: string) => void;
  /** Ends the fetching of its program. */
  readonly stopped: AbortSignal;
}

export function temporalService({ folder, port, uiPort, say, stopped }: TemporalServiceSettings): Service {
  return {
    name: 'Temporal',
    signal: 'SIGTERM',
    graceMs: stack.engines,
    start: async (launched) => {
      const program = await findTemporalProgram(TEMPORAL_CLI, say, stopped);
      stopped.throwIfAborted();
      const databaseFile = folder.temporalFile;
      await startTemporal({ program, port, uiPort, databaseFile, logFile: folder.log('temporal') }, launched);
    },
  };
}

/** The API, the worker and the simulator, by what a person calls them. */
export function ownServices(
  root: string,
  env: NodeJS.ProcessEnv,
  folder: Pick<StateFolder, 'log'>,
): Record<'api' | 'worker' | 'simulator', Service> {
  const common = { root, env };
  return {
    api: nodeService({
      ...common,
      name: 'API',
      script: 'server.ts',
      logFile: folder.log('api'),
      graceMs: api.lastResort + stack.patience,
    }),
    worker: nodeService({
      ...common,
      name: 'Worker',
      script: 'worker.ts',
      logFile: folder.log('worker'),
      graceMs: worker.lastResort + stack.patience,
    }),
    simulator: nodeService({
      ...common,
      name: 'Simulator',
      script: 'simulator.ts',
      logFile: folder.log('simulator'),
      graceMs: simulator.lastResort + stack.patience,
    }),
  };
}
