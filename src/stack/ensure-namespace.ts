import { isGrpcServiceError, type Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';

// gRPC's own number for an object that is there already.
const ALREADY_EXISTS = 6;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Makes the namespace exist and keep closed runs for so many days. */
export async function ensureNamespace(connection: Connection, namespace: string, retentionDays: number): Promise<void> {
  const retention = msToTs(retentionDays * DAY_MS);
  try {
    await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: retention });
  } catch (error) {
    if (!isGrpcServiceError(error) || Number(error.code) !== ALREADY_EXISTS) throw error;
    await connection.workflowService.updateNamespace({
      namespace,
      config: { workflowExecutionRetentionTtl: retention },
    });
  }
}
