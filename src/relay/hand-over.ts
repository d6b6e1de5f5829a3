import type { WorkflowClient } from '@temporalio/client';
import { markHandedOver } from '../database/mark-handed-over.ts';
import type { Pool } from '../database/pool.ts';
import { paymentEventSignal } from '../workflows/messages.ts';
import { paymentStartOptions } from './start-options.ts';

export interface EventToHandOver {
  readonly source: string;
  readonly eventId: string;
  readonly paymentId: string;
  readonly orderId: string | null;
}

/**
 * Hands an event to its payment's workflow: signal-with-start by the business key, then the mark (A5). A signal accepted is
 * not an event handled; the transaction that does the work sets `processed_at`. Handing over twice does no harm.
 *
 * @throws what Temporal or PostgreSQL throw; the inbox relay sweeps up what was left
 */
export async function handOver(
  deps: { readonly client: WorkflowClient; readonly pool: Pool },
  event: EventToHandOver,
): Promise<void> {
  await deps.client.signalWithStart('processPayment', {
    ...paymentStartOptions(event.source, event.paymentId, event.orderId),
    signal: paymentEventSignal,
    signalArgs: [event.eventId],
  });
  await markHandedOver(deps.pool, event.source, [event.eventId]);
}
