import { writeFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { killGroup, type Running } from './launch.ts';
import { processIdentity } from './process-identity.ts';

interface Remembered {
  readonly name: string;
  readonly pid: number;
  readonly identity: string;
}

export interface RememberedProcesses {
  readonly add: (running: Running) => void;
  readonly remove: (running: Running) => void;
  /** SIGKILL for all of them, at once and without waiting: the last resort. */
  readonly killAll: () => void;
}

// PostgreSQL writes what it has in memory first; what takes longer is killed and replays its log at the next start.
const GRACE_MS = 5_000;
const POLL_MS = 50;

/** Keeps on disk which processes a start has running, so that the next start finds what a crash of ours left behind. */
export function rememberedProcesses(file: string): RememberedProcesses {
  let all: readonly Remembered[] = [];
  const change = (next: readonly Remembered[]): void => {
    all = next;
    try {
      writeFileSync(file, JSON.stringify(all), { mode: 0o600 });
    } catch {
      // A disk that is full or gone by now: the list is of use only after a crash of ours, and no reason for one.
    }
  };
  return {
    add: ({ name, pid }) => {
      void processIdentity(pid).then((identity) => {
        if (identity !== null) change([...all, { name, pid, identity }]);
      });
    },
    remove: ({ pid }) => {
      change(all.filter((one) => one.pid !== pid));
    },
    killAll: () => {
      for (const { pid } of all) killGroup(pid);
    },
  };
}

/**
 * Ends the processes that an earlier start left running, those that still are what was remembered, and returns their
 * names. PostgreSQL and Temporal go last: the others may still be writing to them.
 */
export async function endOrphans(file: string): Promise<string[]> {
  const remembered = await readFile(file, 'utf8').then(
    (text) => JSON.parse(text) as Remembered[],
    () => [],
  );
  const ended: string[] = [];
  for (const one of remembered.toReversed()) {
    if ((await processIdentity(one.pid)) !== one.identity) continue;
    ended.push(one.name);
    // What PostgreSQL calls a fast shutdown; SIGTERM would wait for every client. The others take it as well.
    process.kill(one.pid, 'SIGINT');
    const deadline = Date.now() + GRACE_MS;
    while ((await processIdentity(one.pid)) === one.identity && Date.now() < deadline) await delay(POLL_MS);
    killGroup(one.pid);
  }
  await rm(file, { force: true });
  return ended;
}
