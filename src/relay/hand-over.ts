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
 * Hands events of one payment to its workflow: signal-with-start by the business key, then the marks (A5). One signal is enough
 * for all, since a wake takes all that wait. A signal accepted is not an event handled; the transaction that does the work sets
 * `processed_at`. Handing over twice does no harm.
 *
 * @throws what Temporal or PostgreSQL throw; the inbox relay sweeps up what was left
 */
export async function handOver(
  deps: { readonly client: WorkflowClient; readonly pool: Pool },
  event: EventToHandOver,
  others: readonly EventToHandOver[] = [],
): Promise<void> {
  await deps.client.signalWithStart('processPayment', {
    ...paymentStartOptions(event.source, event.paymentId, event.orderId),
    signal: paymentEventSignal,
    signalArgs: [event.eventId],
  });
  await markHandedOver(
    deps.pool,
    event.source,
    [event, ...others].map((one) => one.eventId),
  );
}
