/**
 * Loaded before the real worker.ts or server.ts (`node --import tsx --import …/preload.mjs worker.ts`): counts the steps
 * that the process takes towards the outside, and kills it with SIGKILL at the one that the plan names. The product knows nothing of it.
 *
 * - CRASH_PLAN: a file that says what counts and where to die; it may come, change and go while the process runs.
 * - CRASH_GATE: the worker is made only when this file is there: a spare one waits warm and takes no task away.
 */
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { countGatewayCalls } from './count-gateway-calls.ts';
import { countStatements } from './count-statements.ts';
import { countTemporalCalls } from './count-temporal-calls.ts';
import { createStepCounter } from './step-counter.ts';

const GATE_POLL_MS = 10;

const { CRASH_PLAN: planFile, CRASH_GATE: gate } = process.env;
if (planFile !== undefined) {
  const counter = createStepCounter(planFile);
  countStatements(counter);
  countGatewayCalls(counter);
  countTemporalCalls(counter);
}
if (gate !== undefined) await holdWorkers(gate);

async function holdWorkers(gateFile: string): Promise<void> {
  const { Worker } = await import('@temporalio/worker');
  const create = Worker.create.bind(Worker);
  Worker.create = async (options) => {
    while (!existsSync(gateFile)) await delay(GATE_POLL_MS);
    return create(options);
  };
}
