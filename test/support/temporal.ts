import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { ensureNamespace } from '../../src/stack/ensure-namespace.ts';
import { findTemporalProgram } from '../../src/stack/find-temporal-program.ts';
import { addSearchAttributes, ensureSearchAttributes, SEARCH_ATTRIBUTES } from '../../src/stack/search-attributes.ts';
import { TEMPORAL_TEST_SERVER } from '../../src/stack/temporal-programs.ts';
import { askForService } from './ask-for-service.ts';
import type { TemporalService } from './services.ts';

export interface TestNamespace {
  readonly address: string;
  readonly namespace: string;
  readonly connection: Connection;
  readonly client: Client;
  /** Closes the connection; the namespace goes with the run's server. */
  close(): Promise<void>;
}

const USABLE_MS = 30_000;
const POLL_MS = 20;

/** A namespace of the test's own on the run's Temporal server, with our search attributes ready for use. */
export async function createTestNamespace(): Promise<TestNamespace> {
  const { address } = await askForService<TemporalService>('/temporal');
  const namespace = `test-${randomBytes(6).toString('hex')}`;
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace });
  await ensureNamespace(connection, namespace, 1);
  const deadline = Date.now() + USABLE_MS;
  for (;;) {
    try {
      await ensureSearchAttributes(connection, namespace);
      await useSearchAttributes(client);
      return { address, namespace, connection, client, close: () => connection.close() };
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await delay(POLL_MS);
    }
  }
}

/** A new namespace reaches the parts of the server one after the other; a question that names all attributes proves it. */
async function useSearchAttributes(client: Client): Promise<void> {
  const terms = Object.entries(SEARCH_ATTRIBUTES).map(
    ([name, type]) => `${name} = ${type === 'Bool' ? 'true' : "'probe'"}`,
  );
  await client.workflow.count(terms.join(' and '));
}

/**
 * The time-skipping test server's program, or null with a visible line where it cannot be had. Ask for it at the top of a
 * test file and put the tests that need it under `describe.skipIf(program === null)`.
 */
export async function timeSkippingProgram(): Promise<string | null> {
  const say = (line: string): void => {
    process.stderr.write(`${line}\n`);
  };
  return findTemporalProgram(TEMPORAL_TEST_SERVER, say).catch((error: unknown) => {
    say(`time-skipping tests are left out: ${(error as Error).message}`);
    return null;
  });
}

/** A Temporal of the test's own whose clock jumps to the next timer. It ends by `teardown()`. */
export async function createTimeSkippingEnvironment(program: string): Promise<TestWorkflowEnvironment> {
  const env = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: program } },
  });
  // This server can add search attributes but not list them.
  try {
    await addSearchAttributes(env.connection, env.namespace ?? 'default', SEARCH_ATTRIBUTES);
    return env;
  } catch (error) {
    await env.teardown();
    throw error;
  }
}
