import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { access, mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { acceptsConnections, freePorts } from '../../src/stack/ports.ts';
import { mustNotOutliveUs } from './reaper.ts';
import { eventually } from './eventually.ts';

const MODULE = 'github.com/stripe/stripe-mock@latest';
/** Half a minute on a machine of two cores that has to fetch it, and Go itself may be waiting for a network that is not there. */
const INSTALL_MS = 180_000;
const run = promisify(execFile);

export interface StripeMock {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Stripe's own mock, which answers from today's description of its API and refuses what that does not allow; on free ports
 * of 127.0.0.1, built once and kept in the user's cache. A string says why it cannot be had: skip by name then, visibly.
 */
export async function startStripeMock(): Promise<StripeMock | string> {
  let program: string;
  try {
    program = await installed();
  } catch (error) {
    return `stripe-mock cannot be had (${error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)})`;
  }
  const [http = 0, https = 0] = await freePorts(2);
  const addresses = ['-http-addr', `127.0.0.1:${String(http)}`, '-https-addr', `127.0.0.1:${String(https)}`];
  const child = spawn(program, addresses, { stdio: 'ignore', detached: true });
  const forget = mustNotOutliveUs('pid', child.pid ?? 0);
  try {
    await eventually('stripe-mock listens', () => acceptsConnections(http));
  } catch (error) {
    await end(child);
    throw error;
  }
  return {
    url: `http://127.0.0.1:${String(http)}`,
    async stop() {
      await end(child);
      forget();
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}

async function installed(): Promise<string> {
  const folder = join(homedir(), '.cache', 'paidonce', 'bin');
  const program = join(folder, 'stripe-mock');
  if (await exists(program)) return program;
  const fresh = `${folder}.${randomUUID()}`;
  await mkdir(fresh, { recursive: true });
  await mkdir(folder, { recursive: true });
  process.stderr.write('Building stripe-mock, once …\n');
  try {
    await run('go', ['install', MODULE], { timeout: INSTALL_MS, env: { ...process.env, GOBIN: fresh } });
    // Whole or not at all; another test may have been faster.
    await rename(join(fresh, 'stripe-mock'), program);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return program;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
