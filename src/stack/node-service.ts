import { setTimeout as delay } from 'node:timers/promises';
import { describeExit, failureReason } from './failure-reason.ts';
import type { Service } from './keep-running.ts';
import { launch } from './launch.ts';
import { lastLogLines, logPosition } from './log-file.ts';
import { StartError } from './start-error.ts';

export interface NodeServiceSettings {
  readonly name: string;
  /** `server.ts` and the like, in the project folder. */
  readonly script: string;
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly logFile: string;
  readonly graceMs: number;
}

// Compiling and bundling take seconds on a busy machine, up to half a minute on one that is overrun; never this long.
const READY_MS = 120_000;

/** One of our own processes, which says by itself when it is ready. */
export function nodeService(settings: NodeServiceSettings): Service {
  const { name, script, root, env, logFile, graceMs } = settings;
  return {
    name,
    signal: 'SIGTERM',
    graceMs,
    start: async (launched) => {
      const before = logPosition(logFile);
      const args = ['--import', 'tsx', script];
      const running = await launch({ name, command: process.execPath, args, cwd: root, env, logFile, ipc: true });
      launched(running);
      const late = delay(READY_MS, 'was not ready in time' as const, { ref: false });
      const ended = running.exited.then((exit) => `ended (${describeExit(exit)})` as const);
      const failure = await Promise.race([running.ready, ended, late]);
      if (failure === undefined) return;
      await running.stop('SIGTERM', graceMs);
      const lines = lastLogLines(logFile, before, 50);
      const reason = failureReason(lines) ?? lines.at(-1) ?? 'it said nothing';
      throw new StartError(`${name} did not start, it ${failure}: ${reason} (see ${logFile})`);
    },
  };
}
