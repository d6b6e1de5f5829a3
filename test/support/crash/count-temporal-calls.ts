import { WorkflowClient } from '@temporalio/client';
import type { StepCounter } from './step-counter.ts';

/** All by which the API and the relay speak to Temporal. */
const CALLS = ['start', 'signalWithStart', 'executeUpdateWithStart'] as const;

type Call = (this: WorkflowClient, name: unknown, options: Options) => Promise<unknown>;
interface Options {
  readonly workflowId?: string;
  readonly startWorkflowOperation?: { readonly options: { readonly workflowId: string } };
}

/** Counts every start, signal and update that the process sends, before it is sent and after it was accepted. */
export function countTemporalCalls(counter: StepCounter): void {
  const prototype = WorkflowClient.prototype as unknown as Record<(typeof CALLS)[number], Call>;
  for (const name of CALLS) {
    const call = prototype[name];
    prototype[name] = async function counted(workflow, options) {
      const workflowId = options.workflowId ?? options.startWorkflowOperation?.options.workflowId ?? '';
      if (!counter.concerns(workflowId)) return call.call(this, workflow, options);
      const what = `temporal ${name}`;
      counter.step('before', what);
      const answer = await call.call(this, workflow, options);
      counter.step('after', what);
      return answer;
    };
  }
}
