import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { access, mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const VERSION = '1.15.10';
const run = promisify(execFile);

/**
 * Starts its app object: its own command listens on every interface and keeps its state in one file of the machine's.
 * It ends when its standard input does, so that it does not outlive a test that was killed.
 */
const LAUNCHER = `
import os, socket, sys, threading
sys.path.insert(0, sys.argv[1])
from aiohttp import web
from localstripe import resources, server
resources.Store.dump_to_disk = lambda self: None
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
sock = socket.socket()
sock.bind(('127.0.0.1', 0))
print(sock.getsockname()[1], flush=True)
web.run_app(server.app, sock=sock, access_log=None, print=None)
`;

export interface Localstripe {
  readonly url: string;
  /** Any POST of its API, form-encoded by nested names such as `metadata[order_id]`. */
  post(path: string, form: Record<string, string>): Promise<any>;
  get(path: string): Promise<any>;
  /** Every event is sent to the URL, signed with the secret, about a second after it happened. */
  registerWebhook(name: string, url: string, secret: string): Promise<void>;
  stop(): Promise<void>;
}

export const LOCALSTRIPE_KEY = 'sk_test_paidonce';

/**
 * A stateful stand-in for Stripe that nobody here wrote, on a free port of 127.0.0.1; fetched once and kept in the user's
 * cache. A string says why it cannot be had: skip by name then, visibly.
 */
export async function startLocalstripe(): Promise<Localstripe | string> {
  let packages: string;
  try {
    packages = await installed();
  } catch (error) {
    return `localstripe ${VERSION} cannot be had (${error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)})`;
  }
  const child = spawn('python3', ['-c', LAUNCHER, packages], { stdio: ['pipe', 'pipe', 'inherit'] });
  const url = `http://127.0.0.1:${await firstLine(child)}`;

  async function call(path: string, init: RequestInit): Promise<any> {
    const response = await fetch(url + path, { ...init, headers: { authorization: `Bearer ${LOCALSTRIPE_KEY}` } });
    const text = await response.text();
    return text === '' ? null : JSON.parse(text);
  }

  return {
    url,
    post: (path, form) => call(path, { method: 'POST', body: new URLSearchParams(form) }),
    get: (path) => call(path, {}),
    async registerWebhook(name, target, secret) {
      await call(`/_config/webhooks/${name}`, { method: 'POST', body: new URLSearchParams({ url: target, secret }) });
    },
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no output');
  const lines = createInterface({ input: child.stdout });
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('localstripe ended before it listened')));
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string];
  ended.catch(() => undefined);
  return line;
}

/** Where the packages lie; compiled parts fit one version of Python. */
async function installed(): Promise<string> {
  const { stdout } = await run('python3', ['-c', 'import sys; print("py%d.%d" % sys.version_info[:2])']);
  const folder = join(homedir(), '.cache', 'paidonce', `localstripe-${VERSION}-${stdout.trim()}`);
  if (await exists(folder)) return folder;
  const fresh = `${folder}.${randomUUID()}`;
  await mkdir(fresh, { recursive: true });
  process.stderr.write(`Fetching localstripe ${VERSION}, once …\n`);
  try {
    const target = ['install', '--quiet', '--disable-pip-version-check', '--target', fresh, `localstripe==${VERSION}`];
    await run('python3', ['-m', 'pip', ...target], { timeout: 120_000 });
    // Whole or not at all; another test may have been faster.
    await rename(fresh, folder);
  } catch (error) {
    if (!(await exists(folder))) throw error;
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return folder;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
