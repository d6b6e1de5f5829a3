import { findTemporalProgram } from './find-temporal-program.ts';
import type { Service } from './keep-running.ts';
import { nodeService } from './node-service.ts';
import type { PostgresSettings } from './postgres-settings.ts';
import { startPostgres } from './start-postgres.ts';
import { startTemporal } from './start-temporal.ts';
import type { StateFolder } from './state-folder.ts';
import { TEMPORAL_CLI } from './temporal-programs.ts';

// How long each may take to end; together they stay below the 15 s that a start may take to end, with the time that it
// takes to kill what does not. The worker finishes its activities; cut short, they are repeated, so 5 s is a courtesy.
const API_GRACE_MS = 3_000;
const WORKER_GRACE_MS = 5_000;
const SIMULATOR_GRACE_MS = 1_000;
const TEMPORAL_GRACE_MS = 2_000;
const POSTGRES_GRACE_MS = 2_000;

export function postgresService(settings: PostgresSettings): Service {
  let passwordIsNew = settings.passwordIsNew ?? false;
  return {
    name: 'PostgreSQL',
    // A fast shutdown: SIGTERM would wait until the last client has gone by itself.
    signal: 'SIGINT',
    graceMs: POSTGRES_GRACE_MS,
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
    graceMs: TEMPORAL_GRACE_MS,
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
  folder: StateFolder,
): Record<'api' | 'worker' | 'simulator', Service> {
  const common = { root, env };
  return {
    api: nodeService({
      ...common,
      name: 'API',
      script: 'server.ts',
      logFile: folder.log('api'),
      graceMs: API_GRACE_MS,
    }),
    worker: nodeService({
      ...common,
      name: 'Worker',
      script: 'worker.ts',
      logFile: folder.log('worker'),
      graceMs: WORKER_GRACE_MS,
    }),
    simulator: nodeService({
      ...common,
      name: 'Simulator',
      script: 'simulator.ts',
      logFile: folder.log('simulator'),
      graceMs: SIMULATOR_GRACE_MS,
    }),
  };
}
