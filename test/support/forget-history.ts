import { isGrpcServiceError } from '@temporalio/client';
import { eventually } from './eventually.ts';
import type { TestNamespace } from './temporal.ts';

/** Temporal deletes in the background: some 10 s on the run's own server, minutes on one with Temporal's own settings. */
const DELETED_MS = 180_000;
/** Temporal puts off a deletion that comes too early for longer and longer; a new request is looked at at once. */
const ASK_AGAIN_MS = 1_000;
const NOT_FOUND = 5;

/** Deletes every run that the namespace knows, open ones too, as its retention would in the end; answers how many there were. */
export async function forgetHistory({ client, connection, namespace }: TestNamespace): Promise<number> {
  const askedAt = new Map<string, number>();
  const left = new Set<string>();
  await eventually(
    () => `Temporal has forgotten ${[...left].join(', ')}.`,
    async () => {
      left.clear();
      for await (const { workflowId, runId } of client.workflow.list()) {
        left.add(`${workflowId} (run ${runId})`);
        if (Date.now() < (askedAt.get(runId) ?? 0) + ASK_AGAIN_MS) continue;
        askedAt.set(runId, Date.now());
        const workflowExecution = { workflowId, runId };
        await connection.workflowService
          .deleteWorkflowExecution({ namespace, workflowExecution })
          .catch((error: unknown) => {
            // It has been deleted since it was listed.
            if (!isGrpcServiceError(error) || Number(error.code) !== NOT_FOUND) throw error;
          });
      }
      return left.size === 0;
    },
    DELETED_MS,
  );
  return askedAt.size;
}
