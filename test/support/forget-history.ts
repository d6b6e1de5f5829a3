import { until } from './until.ts';
import type { TestNamespace } from './temporal.ts';

/** Temporal deletes in the background and takes its time: some 20 s where nothing else goes on. */
const DELETED_MS = 90_000;

/** Deletes every run that the namespace knows, open ones too, as its retention would in the end; answers how many there were. */
export async function forgetHistory({ client, connection, namespace }: TestNamespace): Promise<number> {
  const asked = new Set<string>();
  await until(
    async () => {
      let left = 0;
      for await (const { workflowId, runId } of client.workflow.list()) {
        left += 1;
        if (asked.has(runId)) continue;
        asked.add(runId);
        const workflowExecution = { workflowId, runId };
        await connection.workflowService.deleteWorkflowExecution({ namespace, workflowExecution });
      }
      return left === 0;
    },
    DELETED_MS,
    () => `Temporal has not forgotten every run after ${DELETED_MS} ms.`,
  );
  return asked.size;
}
