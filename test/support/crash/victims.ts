import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startProcess, type ProcessSettings, type TestProcess } from '../processes.ts';
import type { CrashPlan } from './crash-plan.ts';
import { preloadPath } from './preload-path.ts';

/** A real process that dies where it is told to. */
export interface Victim {
  readonly process: TestProcess;
  /** Begins to count; the process hears it before its next step. */
  arm(plan: CrashPlan): void;
  /** Counts no more. Whether the process died before it heard that. */
  disarm(): Promise<boolean>;
}

/** One process of a kind at work, and others warmed up beside it, which take its place at once. */
export interface Victims {
  current(): Promise<Victim>;
  /** After the death of the current one. */
  replace(): Promise<void>;
}

interface Waiting {
  readonly victim: Promise<Victim>;
  letIn(): void;
}

/** A spare one is not ready before its turn comes, and a scenario in which others die may take an hour before that. */
const LONGEST_WAIT_MS = 7_200_000;
/** A step that was being taken when the plan went is its last one within this. */
const DYING_MS = 50;
/** A death takes a moment, a start takes seconds. */
const SPARE = 2;

/** A worker that waits takes no task before its turn. */
export function startVictims(
  kind: 'server' | 'worker',
  options: { readonly settings: ProcessSettings; readonly folder: string },
): Victims {
  const { settings, folder } = options;
  const preload = preloadPath(settings.built === true);
  let made = 0;

  function begin(): Waiting {
    const file = join(folder, `${kind}-${String((made += 1))}`);
    const [plan, gate] = [`${file}.plan`, `${file}.gate`];
    const env = {
      ...settings.env,
      CRASH_PLAN: plan,
      ...(kind === 'worker' && { CRASH_GATE: gate }),
    };
    const started = startProcess(kind, { ...settings, preload, env, readyMs: LONGEST_WAIT_MS });
    const victim = started.then((process): Victim => {
      let gone = false;
      void process.exited.then(() => (gone = true));
      return {
        process,
        arm: (what) => writeFileSync(plan, JSON.stringify(what)),
        async disarm() {
          writeFileSync(plan, '');
          await delay(DYING_MS);
          return gone;
        },
      };
    });
    // It is awaited when its turn comes, and must not end the test before.
    victim.catch(() => undefined);
    return { letIn: () => writeFileSync(gate, ''), victim };
  }

  let current = begin();
  current.letIn();
  const spare = Array.from({ length: SPARE }, begin);
  return {
    current: () => current.victim,
    async replace() {
      spare.push(begin());
      current = spare.shift() ?? current;
      current.letIn();
      await current.victim;
    },
  };
}
