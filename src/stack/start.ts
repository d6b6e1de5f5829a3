import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SHUTDOWN_TIMES } from '../domain/shutdown-times.ts';
import { StartError } from './start-error.ts';
import { startStack } from './start-stack.ts';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const EXIT_MS = SHUTDOWN_TIMES.stack.exit;
const PARENT_POLL_MS = 500;

/** What `npm start` runs: the stack, until a signal ends it. */
async function main(): Promise<void> {
  const print = (line: string): void => {
    process.stdout.write(`${line}\n`);
  };
  // A reader that has gone away is no reason to leave everything running unattended, nor to end it without order.
  process.stdout.on('error', () => undefined);
  const stopped = new AbortController();
  const signalled = new Promise<void>((resolve) => {
    // npm hands a Ctrl-C on that we have got already, so further signals say nothing new.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      // The launcher's own listener would end us at once.
      process.removeAllListeners(signal);
      process.on(signal, resolve);
    }
    if (process.env['npm_lifecycle_event'] !== undefined) whenParentIsGone(resolve);
  });
  void signalled.then(() => {
    print('Stopping …');
    stopped.abort();
    setTimeout(() => process.exit(0), EXIT_MS).unref();
  });
  // A mistake of ours must not leave five processes behind that nobody watches.
  process.on('uncaughtException', (error) => {
    process.stderr.write(`${describe(error)}\n`);
    process.exitCode = 1;
    stopped.abort();
    setTimeout(() => process.exit(1), EXIT_MS).unref();
  });
  print('Starting paidonce');
  try {
    const stack = await startStack({ root: ROOT, env: process.env, print, stopped: stopped.signal });
    const { apiUrl, temporalUiUrl, simulatorUrl } = stack.settings;
    print('');
    print(`  API and console  ${apiUrl}`);
    if (temporalUiUrl !== null) print(`  Temporal UI      ${temporalUiUrl}`);
    print(`  Simulator        ${simulatorUrl}`);
    print('  Logs             .paidonce/logs');
    print('');
    print('Ready. Next, in another terminal: npx paidonce demo    (Ctrl-C ends everything)');
    await signalled;
    await stack.stop();
  } catch (error) {
    if (!stopped.signal.aborted) {
      process.stderr.write(`${error instanceof StartError ? error.message : describe(error)}\n`);
      process.exit(1);
    }
  }
  print('Stopped.');
  process.exit(0);
}

/** npm that was killed, or a shell of its that did not pass a signal on: nobody at the terminal could end us any more. */
function whenParentIsGone(act: () => void): void {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    act();
  }, PARENT_POLL_MS);
  watch.unref();
}

/** A mistake of ours needs its stack trace; what the system refused (a full disk, say) does not. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'syscall' in error ? `paidonce could not be started: ${error.message}` : (error.stack ?? error.message);
}

await main();
