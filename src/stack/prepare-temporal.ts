import { Connection, isGrpcServiceError } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { ensureNamespace } from './ensure-namespace.ts';
import { ensureSearchAttributes, searchAttributesCommand } from './search-attributes.ts';
import type { StackSettings } from './stack-settings.ts';
import { StartError } from './start-error.ts';

// A developer comes back to a payment weeks later; SQLite does not mind a month of closed runs.
const RETENTION_DAYS = 30;
// gRPC's own number for something that is not there.
const NOT_FOUND = 5;
const CALL_MS = 5_000;

/**
 * Makes Temporal ready for us: our own gets its namespace and retention, every one our search attributes. Where we may not
 * register them, says the command that does. Throws a StartError where Temporal does not answer.
 */
export async function prepareTemporal(settings: StackSettings, say: (line: string) => void): Promise<void> {
  const { temporalAddress: address, namespace, ownTemporal } = settings;
  // Certificates and keys for a Temporal of somebody else's come from the environment, as for our processes.
  const env = Object.fromEntries(Object.entries(settings.childEnv).filter((entry) => entry[1] !== undefined));
  const { connectionOptions } = loadClientConnectConfig({
    disableFile: true,
    overrideEnvVars: env as Record<string, string>,
  });
  const connection = await Connection.connect({ ...connectionOptions, address, connectTimeout: CALL_MS }).catch(
    (error: unknown) => {
      throw new StartError(`Temporal does not answer at ${address}: ${(error as Error).message}`);
    },
  );
  try {
    await connection.withDeadline(Date.now() + CALL_MS, async () => {
      if (ownTemporal) await ensureNamespace(connection, namespace, RETENTION_DAYS);
      await ensureSearchAttributes(connection, namespace);
    });
  } catch (error) {
    const { message } = error as Error;
    if (isGrpcServiceError(error) && Number(error.code) === NOT_FOUND) {
      throw new StartError(
        `Temporal at ${address} has no namespace ${namespace}: create it there, or set TEMPORAL_NAMESPACE.`,
      );
    }
    if (ownTemporal) throw new StartError(`Temporal could not be prepared: ${message}`);
    say(
      `Search attributes could not be registered (${message}). Where they are missing, run: ${searchAttributesCommand(namespace)}`,
    );
  } finally {
    await connection.close();
  }
}
