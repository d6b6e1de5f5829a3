import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { acceptsConnections } from './ports.ts';
import { launch, type Running } from './launch.ts';
import { lastLogLines, logPosition } from './log-file.ts';
import { StartError } from './start-error.ts';

export interface TemporalSettings {
  /** The `temporal` program. */
  readonly program: string;
  /** On 127.0.0.1. */
  readonly port: number;
  /** Null: no UI. */
  readonly uiPort: number | null;
  /** What it keeps between starts; null: only in memory. */
  readonly databaseFile: string | null;
  /** Settings of Temporal's own, `name=value` with a value in JSON. */
  readonly dynamicConfig?: readonly string[];
  readonly logFile: string;
}

// A second or two as a rule; a large file on a slow disk takes longer.
const READY_MS = 60_000;
const POLL_MS = 50;
const CALL_MS = 5_000;

/**
 * Starts Temporal's dev server and waits until it answers; hands the process over as soon as it exists. Throws a
 * StartError that says what it said. Stop it with SIGTERM.
 */
export async function startTemporal(
  settings: TemporalSettings,
  launched: (running: Running) => void = () => undefined,
): Promise<Running> {
  const args = ['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(settings.port), '--log-level', 'error'];
  if (settings.uiPort === null) args.push('--headless');
  else args.push('--ui-port', String(settings.uiPort), '--ui-disable-news-fetch');
  if (settings.databaseFile !== null) args.push('--db-filename', settings.databaseFile);
  for (const entry of settings.dynamicConfig ?? []) args.push('--dynamic-config-value', entry);
  const { program: command, logFile } = settings;
  const before = logPosition(logFile);
  const temporal = await launch({ name: 'Temporal', command, args, cwd: '/', env: process.env, logFile });
  launched(temporal);
  const deadline = Date.now() + READY_MS;
  while (!(await answers(settings.port))) {
    if (temporal.hasExited() || Date.now() > deadline) {
      await temporal.stop('SIGTERM', 0);
      const reason = lastLogLines(logFile, before, 1)[0] ?? 'it said nothing';
      throw new StartError(`Temporal did not start: ${reason} (see ${logFile})`);
    }
    await delay(POLL_MS);
  }
  return temporal;
}

/** The frontend listens before it can do anything, so we ask for what we need first: the namespace. */
async function answers(port: number): Promise<boolean> {
  // A gRPC channel that is refused once waits a second before it tries again; a plain connection does not.
  if (!(await acceptsConnections(port))) return false;
  const address = `127.0.0.1:${String(port)}`;
  const connection = await Connection.connect({ address, connectTimeout: CALL_MS }).catch(() => null);
  if (connection === null) return false;
  return connection
    .withDeadline(Date.now() + CALL_MS, () => connection.workflowService.describeNamespace({ namespace: 'default' }))
    .then(
      () => true,
      () => false,
    )
    .finally(() => connection.close());
}
