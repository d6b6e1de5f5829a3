import { setTimeout as delay } from 'node:timers/promises';
import { describeExit, failureReason } from './failure-reason.ts';
import type { Running } from './launch.ts';
import { lastLogLines } from './log-file.ts';

/** How one process of the stack is started and ended. */
export interface Service {
  readonly name: string;
  /** Starts it and resolves when it can be used; hands it over as soon as it exists. Rejects when it ends before. */
  readonly start: (launched: (running: Running) => void) => Promise<void>;
  /** Asks it to end; after `graceMs` it is killed. */
  readonly signal: NodeJS.Signals;
  readonly graceMs: number;
}

export interface Keeper {
  readonly name: string;
  /** Rejects when it cannot be started; from then on it is started again whenever it ends. */
  start(): Promise<void>;
  /** Resolves when nothing of it is left and nothing of it will be started. */
  stop(): Promise<void>;
}

export interface KeeperEvents {
  readonly say: (line: string) => void;
  readonly launched: (running: Running) => void;
  readonly ended: (running: Running) => void;
}

// Quick enough that a crash is a hiccup; a process that cannot live tries twice a minute and leaves the machine in peace.
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 30_000;
// Who ran this long had a good start: the next crash is a new story.
const STEADY_MS = 60_000;

/** Keeps one service running until it is stopped; says in a line when it ended and when it is back. */
export function keepRunning(service: Service, events: KeeperEvents): Keeper {
  const { name } = service;
  const stopping = new AbortController();
  let current: Running | undefined;
  let work: Promise<void> = Promise.resolve();
  let failures = 0;

  const startOnce = async (): Promise<void> => {
    const startedAt = Date.now();
    let running: Running | undefined;
    await service.start((launched) => {
      running = current = launched;
      events.launched(launched);
      void launched.exited.then(() => {
        events.ended(launched);
      });
      // Asked to stop while it was on its way.
      if (stopping.signal.aborted) void launched.stop(service.signal, service.graceMs);
    });
    const ours = running;
    void ours?.exited.then((exit) => {
      if (stopping.signal.aborted) return;
      failures = Date.now() - startedAt > STEADY_MS ? 0 : failures + 1;
      const crash = exit.code === null ? undefined : failureReason(lastLogLines(ours.logFile, 0, 50));
      events.say(
        `${name} ended (${describeExit(exit)})${crash === undefined ? '' : `: ${crash}`}; it is started again`,
      );
      work = startAgain();
    });
  };

  const startAgain = async (): Promise<void> => {
    for (;;) {
      const wait = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.max(0, failures - 1));
      await delay(wait, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      try {
        await startOnce();
        events.say(`${name} runs again`);
        return;
      } catch (error) {
        failures += 1;
        if (!stopping.signal.aborted) events.say(`${(error as Error).message}; it is tried again`);
      }
    }
  };

  return {
    name,
    start: () => (work = startOnce()),
    stop: async () => {
      stopping.abort();
      await current?.stop(service.signal, service.graceMs);
      // A start that was under way ends by what we did, or by itself; what it launched meanwhile is stopped as well.
      await work.catch(() => undefined);
      await current?.stop(service.signal, service.graceMs);
    },
  };
}
