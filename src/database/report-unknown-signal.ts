import { deadLetterId, parsePaymentWorkflowId } from '../domain/keys.ts';
import { openDeadLetter } from './open-dead-letter.ts';
import { inTransaction, type Pool } from './pool.ts';

/** A name is what a sender makes of it. */
const LONGEST_NAME = 200;

/**
 * Puts a signal that a workflow does not know before a person: what it was meant to bring about did not happen. One row for each
 * workflow and name, however often it is sent.
 */
export async function reportUnknownSignal(pool: Pool, workflowId: string, signal: string): Promise<void> {
  const name = signal.replaceAll('\0', '').slice(0, LONGEST_NAME);
  const payment = parsePaymentWorkflowId(workflowId);
  await inTransaction(pool, (tx) =>
    openDeadLetter(tx, {
      id: deadLetterId('event_unreadable', 'signal', workflowId, name),
      kind: 'event_unreadable',
      source: payment?.source ?? null,
      paymentId: payment?.paymentId ?? null,
      lastError: `Workflow ${workflowId} was sent the signal ${name}, which it does not know: nothing came of it. Let its sender use the names of paidonce/client.`,
    }),
  );
}
