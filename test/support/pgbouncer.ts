import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asOrdinaryUser, ensureOwner } from '../../src/stack/as-ordinary-user.ts';
import { launch } from '../../src/stack/launch.ts';
import { acceptsConnections, freePorts } from '../../src/stack/ports.ts';
import { runOnce } from '../../src/stack/run-once.ts';
import { eventually } from './eventually.ts';
import { mustNotOutliveUs } from './reaper.ts';

/** Fewer than the connections that one of our processes holds: transactions of several share each. */
const SERVER_CONNECTIONS = 4;

export interface PgBouncer {
  /** Leads to the same database through the pooler. */
  through(databaseUrl: string): string;
  stop(): Promise<void>;
}

/**
 * The machine's PgBouncer in transaction mode, on a free port, before the server that the URL names. A string says why it
 * cannot be had: skip by name then, visibly.
 */
export async function startPgBouncer(databaseUrl: string): Promise<PgBouncer | string> {
  if (!(await runOnce('pgbouncer', ['--version'], { timeoutMs: 10_000 })).ok) return 'pgbouncer is not installed';
  const folder = mkdtempSync(join(tmpdir(), 'paidonce-pgbouncer-'));
  const forgetFolder = mustNotOutliveUs('folder', folder);
  const { hostname, port: serverPort, username, password } = new URL(databaseUrl);
  const [port = 0] = await freePorts(1);
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
* = host=${hostname} port=${serverPort} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${String(port)}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${String(SERVER_CONNECTIONS)}
max_client_conn = 500
`,
  );
  const user = await asOrdinaryUser();
  await ensureOwner(folder, user.owner);
  const [command = '', ...args] = [...user.prefix, 'pgbouncer', file];
  const logFile = join(folder, 'pgbouncer.log');
  const running = await launch({ name: 'PgBouncer', command, args, cwd: '/', env: process.env, logFile });
  const forget = mustNotOutliveUs('pid', running.pid);
  await eventually('PgBouncer listens', () => acceptsConnections(port));
  return {
    through: (url) => Object.assign(new URL(url), { host: `127.0.0.1:${String(port)}` }).href,
    async stop() {
      await running.stop('SIGINT', 5_000);
      forget();
      rmSync(folder, { recursive: true, force: true });
      forgetFolder();
    },
  };
}
