import type { WorkflowClient } from '@temporalio/client';
import { findPayoutOfEvent } from '../database/find-payout-of-event.ts';
import { markHandedOver } from '../database/mark-handed-over.ts';
import type { Pool } from '../database/pool.ts';
import { waitForPayout } from '../database/wait-for-payout.ts';
import { payoutMessages } from '../workflows/messages.ts';
import { payoutStartOptions } from './start-options.ts';

/** Hands an event about a payout to that payout's workflow; one that is not ours, or not known yet, is put where it belongs. */
export async function handOverPayout(
  deps: { readonly client: WorkflowClient; readonly pool: Pool },
  event: {
    readonly source: string;
    readonly eventId: string;
    readonly objectId: string | null;
    readonly reference: string | null;
  },
): Promise<void> {
  const payoutId = await findPayoutOfEvent(deps.pool, event);
  if (payoutId === null) return waitForPayout(deps.pool, event);
  await deps.client.signalWithStart('payOutSeller', {
    ...payoutStartOptions(payoutId, event.source),
    signal: payoutMessages.changed,
  });
  await markHandedOver(deps.pool, event.source, [event.eventId]);
}
