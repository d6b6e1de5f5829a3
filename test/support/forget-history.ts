import type { TestNamespace } from './temporal.ts';
import { eventually } from './eventually.ts';

/** Temporal deletes in the background, one shard's queue at a time. */
const DELETED_MS = 60_000;

/** Deletes every run that the namespace knows, open ones too, as its retention would in the end; answers how many there were. */
export async function forgetHistory({ client, connection, namespace }: TestNamespace): Promise<number> {
  let forgotten = 0;
  await eventually(
    'every run is forgotten',
    async () => {
      const runs: { workflowId: string; runId: string }[] = [];
      for await (const { workflowId, runId } of client.workflow.list()) runs.push({ workflowId, runId });
      const gone = await Promise.all(
        runs.map(async (workflowExecution) => {
          try {
            await connection.workflowService.deleteWorkflowExecution({ namespace, workflowExecution });
            return false;
          } catch (error) {
            // Still in the list, and no longer there.
            if ((error as { code?: unknown }).code === NOT_FOUND) return true;
            throw error;
          }
        }),
      );
      forgotten = Math.max(forgotten, runs.length);
      return gone.every(Boolean);
    },
    DELETED_MS,
  );
  return forgotten;
}

/** gRPC's code. */
const NOT_FOUND = 5;
