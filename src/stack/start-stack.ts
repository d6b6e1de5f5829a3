import { rm } from 'node:fs/promises';
import { SHUTDOWN_TIMES } from '../domain/shutdown-times.ts';
import { choosePorts } from './choose-ports.ts';
import { writeDevFile } from './dev-file.ts';
import { devSecrets } from './dev-secrets.ts';
import { endParts } from './end-parts.ts';
import { holdFolder } from './hold-folder.ts';
import { keepRunning, type Keeper, type Service } from './keep-running.ts';
import { setAsideLargeLog } from './log-file.ts';
import { endOrphans, rememberedProcesses, type RememberedProcesses } from './remembered-processes.ts';
import { reportSteps } from './report-steps.ts';
import { neededPorts, stackSettings, type StackSettings } from './stack-settings.ts';
import { databaseSteps, ownSteps, temporalSteps, type Part, type StartContext } from './start-steps.ts';
import { openStateFolder, type StateFolder } from './state-folder.ts';

export interface StackOptions {
  /** The project folder. */
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  /** Shows a line to the person at the terminal. */
  readonly print: (line: string) => void;
  /** Ends a start that is under way, and a stack that runs. */
  readonly stopped: AbortSignal;
}

export interface Stack {
  readonly settings: StackSettings;
  /** Ends everything in its order; resolves when nothing is left. */
  stop(): Promise<void>;
}

type Keepers = Partial<Record<Part, Keeper>>;

/**
 * Starts PostgreSQL, Temporal, the API, the worker and the simulator, and keeps them running. Rejects with a StartError
 * when one of them cannot be started, after all others have been ended.
 */
export async function startStack({ root, env, print, stopped }: StackOptions): Promise<Stack> {
  const folder = await openStateFolder(root);
  const release = await holdFolder(folder.lockFile);
  const processes = rememberedProcesses(folder.processesFile);
  const keepers: Keepers = {};
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= stopAll(folder, keepers, processes).finally(release));
  const start = async (part: Part, service: Service): Promise<void> => {
    stopped.throwIfAborted();
    setAsideLargeLog(folder.log(part));
    const keeper = keepRunning(service, { say: print, launched: processes.add, ended: processes.remove });
    keepers[part] = keeper;
    await keeper.start();
  };
  stopped.addEventListener('abort', () => void stop());
  try {
    // Whoever reads it would take us for ready.
    await rm(folder.devFile, { force: true });
    const orphans = await endOrphans(folder.processesFile);
    if (orphans.length > 0) print(`Ended what an earlier start had left running: ${orphans.join(', ')}`);
    const ports = await choosePorts(env, neededPorts(env));
    const { secrets, areNew: secretsAreNew } = await devSecrets(folder.secretsFile);
    const settings = stackSettings(env, ports, secrets);
    const report = reportSteps(print);
    const context: StartContext = { root, folder, ports, settings, secrets, secretsAreNew, report, stopped, start };
    const database = databaseSteps(context);
    await together([database, temporalSteps(context)], stop);
    await together(ownSteps(context), stop);
    stopped.throwIfAborted();
    await writeDevFile(folder.devFile, settings, await database, secrets.simWebhookSecret);
    return { settings, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Waits for all of them to settle. The first failure ends the rest, and is what is thrown. */
async function together(works: readonly Promise<unknown>[], stop: () => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  const watched = works.map((work) =>
    work.catch((error: unknown) => {
      failures.push(error);
      void stop();
    }),
  );
  await Promise.all(watched);
  if (failures.length > 0) throw failures[0];
}

async function stopAll(folder: StateFolder, keepers: Keepers, processes: RememberedProcesses): Promise<void> {
  const lastResort = setTimeout(processes.killAll, SHUTDOWN_TIMES.stack.killAll);
  await remove(folder.devFile);
  await endParts(keepers);
  clearTimeout(lastResort);
  await remove(folder.processesFile);
}

/** A folder that cannot be written any more keeps nobody from ending the rest. */
async function remove(file: string): Promise<void> {
  await rm(file, { force: true }).catch(() => undefined);
}
