import type { PoolClient } from 'pg';
import { qualifiedEventId } from '../domain/keys.ts';
import type { WaitingEvent } from './read-payment-work.ts';
import { recordTransition } from './record-transition.ts';

/** Disputes flag their order: opened and lost set it, won clears it. About a dispute the event is the truth. */
export async function applyDisputes(
  tx: PoolClient,
  { source, paymentId }: { readonly source: string; readonly paymentId: string },
  orderId: string | null,
  events: readonly WaitingEvent[],
): Promise<void> {
  for (const event of events) {
    if (event.subject !== 'dispute' || event.claimed === null || orderId === null) continue;
    // Said before: a look again changes nothing.
    if (event.state === 'processed' || event.state === 'ignored') continue;
    await tx.query('update orders set disputed = $2, updated_at = now() where id = $1', [
      orderId,
      event.claimed !== 'won',
    ]);
    await recordTransition(tx, {
      machine: 'dispute',
      objectId: event.objectId ?? qualifiedEventId(source, event.eventId),
      from: null,
      to: event.claimed,
      cause: qualifiedEventId(source, event.eventId),
      orderId,
      source,
      paymentId,
    });
  }
}
