import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { findTemporalProgram } from '../../src/stack/find-temporal-program.ts';
import type { Running } from '../../src/stack/launch.ts';
import { freePorts } from '../../src/stack/ports.ts';
import { postgresUrl } from '../../src/stack/postgres-settings.ts';
import { startPostgres } from '../../src/stack/start-postgres.ts';
import { startTemporal } from '../../src/stack/start-temporal.ts';
import { TEMPORAL_CLI } from '../../src/stack/temporal-programs.ts';
import { mustNotOutliveUs } from './reaper.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where the run's services are asked for: `GET /postgres`, `GET /temporal`, `GET /workflows`. */
    servicesUrl: string;
  }
}

/** What `GET /postgres` answers. */
export interface PostgresService {
  /** A database on the server that may always be connected to. */
  readonly url: string;
  /** The migrated database that others are cloned from. */
  readonly template: string;
}

/** What `GET /workflows` answers. */
export interface WorkflowsService {
  /** The bundled workflows. */
  readonly codePath: string;
}

/** What `GET /temporal` answers. */
export interface TemporalService {
  readonly address: string;
}

/**
 * One PostgreSQL, one Temporal and one bundle of the workflows for the whole run, each made when the first test asks for it: a run
 * of unit tests makes none. TEST_DATABASE_URL and TEST_TEMPORAL_ADDRESS name servers that are there already.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'paidonce-test-'));
  const forgetFolder = mustNotOutliveUs('folder', folder);
  const endings: (() => Promise<void>)[] = [];
  const services: Record<string, Lazy> = {
    '/postgres': lazy(() => providePostgres(folder, endings)),
    '/temporal': lazy(() => provideTemporal(folder, endings)),
    '/workflows': lazy(() => provideWorkflows(folder)),
  };
  const server = createServer((request, response) => {
    const service = services[request.url ?? ''];
    const answer = service === undefined ? Promise.reject(new Error(`no service ${String(request.url)}`)) : service();
    answer.then(
      (value) => response.end(JSON.stringify(value)),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : String(error)),
    );
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  project.provide('servicesUrl', `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);

  return async () => {
    server.close();
    server.closeAllConnections();
    for (const end of endings.reverse()) await end();
    await rm(folder, { recursive: true, force: true });
    forgetFolder();
  };
}

type Lazy = () => Promise<unknown>;

function lazy(start: Lazy): Lazy {
  let started: Promise<unknown> | undefined;
  return () => (started ??= start());
}

async function providePostgres(folder: string, endings: (() => Promise<void>)[]): Promise<PostgresService> {
  const url = process.env['TEST_DATABASE_URL'] ?? (await startTestPostgres(folder, endings));
  const template = `paidonce_template_${String(process.pid)}_${String(Date.now())}`;
  await withServer(url, (client) => client.query(`create database ${template}`));
  endings.push(() => withServer(url, (client) => client.query(`drop database if exists ${template} with (force)`)));
  const templateUrl = new URL(url);
  templateUrl.pathname = `/${template}`;
  const { migrate } = await import('../../src/database/migrate.ts');
  await migrate(templateUrl.href);
  return { url, template };
}

async function startTestPostgres(folder: string, endings: (() => Promise<void>)[]): Promise<string> {
  const [port = 0] = await freePorts(1);
  const settings = {
    dataFolder: join(folder, 'postgres'),
    port,
    password: 'test',
    logFile: join(folder, 'postgres.log'),
    serverSettings: [
      // Nothing of this outlives the run, so nothing is worth a wait for the disk.
      ...['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'],
      // In databases of a few rows one plan is as good as the next: what is prepared is planned once.
      'plan_cache_mode=force_generic_plan',
    ],
  };
  endEarly(await startPostgres(settings), 'SIGQUIT', endings);
  return postgresUrl(settings);
}

async function provideTemporal(folder: string, endings: (() => Promise<void>)[]): Promise<TemporalService> {
  const existing = process.env['TEST_TEMPORAL_ADDRESS'];
  if (existing !== undefined) return { address: existing };
  const program = await findTemporalProgram(TEMPORAL_CLI, (line) => {
    process.stderr.write(`${line}\n`);
  });
  const [port = 0] = await freePorts(1);
  const settings = {
    ...{ program, port, uiPort: null, databaseFile: null, logFile: join(folder, 'temporal.log') },
    // A run can be deleted once the queues have noted that they are past its end, which they do every 30 s otherwise.
    dynamicConfig: ['transfer', 'visibility'].map((queue) => `history.${queue}ProcessorUpdateAckInterval="1s"`),
  };
  endEarly(await startTemporal(settings), 'SIGKILL', endings);
  return { address: `127.0.0.1:${String(port)}` };
}

async function provideWorkflows(folder: string): Promise<WorkflowsService> {
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const workflowsPath = fileURLToPath(new URL('../../src/workflows/index.ts', import.meta.url));
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
  const codePath = join(folder, 'workflows.cjs');
  await writeFile(codePath, code);
  return { codePath };
}

function endEarly(running: Running, signal: NodeJS.Signals, endings: (() => Promise<void>)[]): void {
  const forget = mustNotOutliveUs('pid', running.pid);
  endings.push(async () => {
    await running.stop(signal, 5_000);
    forget();
  });
}

async function withServer(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
