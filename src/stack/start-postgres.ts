import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { asOrdinaryUser } from './as-ordinary-user.ts';
import { initialisePostgres } from './initialise-postgres.ts';
import { launch, type Running } from './launch.ts';
import { lastLogLines, logPosition } from './log-file.ts';
import { postgresBinaries } from './postgres-binaries.ts';
import type { PostgresSettings } from './postgres-settings.ts';
import { commandLine } from './process-identity.ts';
import { StartError } from './start-error.ts';

// A start after a crash replays the log first, which may take its time on a slow disk.
const READY_MS = 120_000;
const POLL_MS = 20;

/**
 * Starts PostgreSQL on 127.0.0.1 and waits until it takes connections; makes its data folder on the first start. Works as
 * root, too; hands the process over as soon as it exists. Throws a StartError that says what PostgreSQL said. Stop it with
 * SIGINT: SIGTERM waits for every client.
 */
export async function startPostgres(
  settings: PostgresSettings,
  launched: (running: Running) => void = () => undefined,
): Promise<Running> {
  const binaries = await postgresBinaries();
  const user = await asOrdinaryUser();
  const env = withoutPostgresVariables(process.env);
  await initialisePostgres(settings, binaries, user, env);
  await removeStaleLock(settings.dataFolder);
  const server = [
    'listen_addresses=127.0.0.1',
    `port=${String(settings.port)}`,
    'unix_socket_directories=',
    // API, worker, relay, command line and the tests of a whole machine side by side, with room to spare.
    'max_connections=200',
    ...(settings.serverSettings ?? []),
  ].flatMap((setting) => ['-c', setting]);
  const [command = '', ...args] = [...user.prefix, binaries.postgres, '-D', settings.dataFolder, ...server];
  const before = logPosition(settings.logFile);
  const postgres = await launch({ name: 'PostgreSQL', command, args, cwd: '/', env, logFile: settings.logFile });
  launched(postgres);
  const deadline = Date.now() + READY_MS;
  while (!(await isReady(settings.dataFolder, postgres.pid))) {
    if (postgres.hasExited() || Date.now() > deadline) {
      await postgres.stop('SIGINT', 0);
      const lines = lastLogLines(settings.logFile, before, 20);
      const reason = lines.findLast((line) => /\b(FATAL|PANIC):/.test(line)) ?? lines.at(-1) ?? 'it said nothing';
      throw new StartError(`PostgreSQL did not start: ${reason} (see ${settings.logFile})`);
    }
    await delay(POLL_MS);
  }
  return postgres;
}

/** The environment without PG…: PostgreSQL's programs read some of it (PGPORT=0 makes initdb fail), pg reads all of it. */
export function withoutPostgresVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^PG[A-Z_]+$/.test(name)));
}

/** The server writes its own state into the file that is its lock: process id first, then, on line 8, how far it is. */
async function isReady(dataFolder: string, pid: number): Promise<boolean> {
  const lines = (await readFile(join(dataFolder, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  return lines[0] === String(pid) && lines[7]?.trim() === 'ready';
}

/**
 * After a crash of the machine or a new container the lock may name a process that is somebody else's by now; PostgreSQL
 * would then refuse to start. It is ours only if that process works on this very folder. A lock of a process that has
 * ended stays: PostgreSQL itself knows how to find out whether anything of it still uses the folder.
 */
async function removeStaleLock(dataFolder: string): Promise<void> {
  const file = join(dataFolder, 'postmaster.pid');
  const pid = Number((await readFile(file, 'utf8').catch(() => '')).split('\n')[0]);
  const command = pid > 0 ? await commandLine(pid) : '';
  if (command !== '' && !command.includes(dataFolder)) await rm(file, { force: true });
}
