import { appendFileSync, readFileSync } from 'node:fs';
import { activityInfo } from '@temporalio/activity';
import type { CrashPlan } from './crash-plan.ts';

/** What the patched calls report to. */
export interface StepCounter {
  /** Something is counted at all just now. */
  active(): boolean;
  /** Whether the value, or the activity that runs here, belongs to what is counted. */
  concerns(value?: unknown): boolean;
  /** From now on this id belongs to what is counted, too. */
  learn(id: string): void;
  /** One step; the process does not survive the one that the plan names. */
  step(when: 'before' | 'after', what: string): void;
}

const IDLE: CrashPlan = { name: '', tags: [], at: null, log: '' };

/** Reads the plan anew at every step, so that whoever wrote it need not wait until it was heard. */
export function createStepCounter(planFile: string): StepCounter {
  let text = '';
  let plan = IDLE;
  let count = 0;
  let tags: Set<string> = new Set();

  function current(): CrashPlan {
    const now = read(planFile);
    if (now === text) return plan;
    text = now;
    plan = now === '' ? IDLE : (JSON.parse(now) as CrashPlan);
    count = 0;
    tags = new Set(plan.tags);
    return plan;
  }

  function mentions(value: unknown): boolean {
    if (value === undefined || value === null) return false;
    const shown = textOf(value);
    return [...tags].some((tag) => stands(tag, shown));
  }

  return {
    active: () => current() !== IDLE,
    concerns(value) {
      if (current() === IDLE) return false;
      return mentions(value) || mentions(workflowHere());
    },
    learn: (id) => void tags.add(id),
    step(when, what) {
      const { at, log } = current();
      // The plan went between the question and the step.
      if (log === '') return;
      count += 1;
      appendFileSync(log, `${count} ${when} ${what}\n`);
      const here = typeof at === 'string' ? `${when} ${what}`.startsWith(at) : count === at;
      if (!here) return;
      process.kill(process.pid, 'SIGKILL');
      // The signal may take a moment, in which nothing further must happen.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    },
  };
}

/** Whether the tag stands in the text; one that ends in a number not as the beginning of a longer one. */
function stands(tag: string, text: string): boolean {
  for (let at = text.indexOf(tag); at !== -1; at = text.indexOf(tag, at + 1)) {
    if (!/\d$/.test(tag) || !/^\d/.test(text.slice(at + tag.length, at + tag.length + 1))) return true;
  }
  return false;
}

/** The workflow whose activity runs here, if one does. */
function workflowHere(): string | undefined {
  try {
    return activityInfo().workflowExecution?.workflowId;
  } catch {
    return undefined;
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string'
    ? value
    : JSON.stringify(value, (_name, inner: unknown) => (typeof inner === 'bigint' ? `bigint:${inner}` : inner));
}
