import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

export interface Launch {
  /** What a person calls the process. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Its output is appended here; the file outlives us, so that output after a crash of ours is not lost. */
  readonly logFile: string;
  /** With a channel over which the process says `{ready: true}`. */
  readonly ipc?: boolean;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Running {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** Resolves when the process has ended; never rejects. */
  readonly exited: Promise<Exit>;
  /** Resolves when the process said that it is ready (with `ipc` only); never rejects. */
  readonly ready: Promise<void>;
  hasExited(): boolean;
  /** Sends the signal, and SIGKILL to the whole group after `graceMs`. Resolves when nothing of it is left. */
  stop(signal: NodeJS.Signals, graceMs: number): Promise<void>;
}

/** Long enough for the kernel to reap even a large process; past it the machine itself is in trouble. */
const KILL_WAIT_MS = 2_000;

/**
 * Starts a process in a process group of its own: a Ctrl-C at the terminal reaches us alone, and we decide the order in
 * which the others end. Throws when the command cannot be run.
 */
export async function launch(what: Launch): Promise<Running> {
  const log = openSync(what.logFile, 'a', 0o600);
  const child = spawn(what.command, what.args, {
    cwd: what.cwd,
    env: what.env,
    detached: true,
    stdio: what.ipc === true ? ['ignore', log, log, 'ipc'] : ['ignore', log, log],
  });
  closeSync(log);
  const ready = new Promise<void>((resolve) => {
    child.on('message', (message) => {
      if (typeof message === 'object' && 'ready' in message && message.ready === true) resolve();
    });
  });
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => {
      // A process that crashed leaves helpers of its own behind (a compiler, say).
      if (child.pid !== undefined) killGroup(child.pid);
      resolve({ code, signal });
    });
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  // An error after the spawn (a signal refused, a channel that broke) is no reason to end ourselves: `exited` tells.
  child.on('error', () => undefined);
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${what.name} has no process id`);
  const hasExited = (): boolean => child.exitCode !== null || child.signalCode !== null;
  return {
    name: what.name,
    pid,
    logFile: what.logFile,
    exited,
    ready,
    hasExited,
    stop: async (signal, graceMs) => {
      if (!hasExited()) {
        child.kill(signal);
        await Promise.race([exited, delay(graceMs, undefined, { ref: false })]);
      }
      killGroup(pid);
      await Promise.race([exited, delay(KILL_WAIT_MS, undefined, { ref: false })]);
    },
  };
}

/** SIGKILL for a group that we lead; one that is gone already is fine. */
export function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
