import { readPayoutEvents } from '../database/finish-payout-events.ts';
import { readPayout } from '../database/read-payout.ts';
import { recordPayout } from '../database/record-payout.ts';
import { payoutWorkflowId } from '../domain/keys.ts';
import type { Dependencies } from './dependencies.ts';
import { findPayout } from './find-payout.ts';
import { readProgress, type MoneyProgress } from './money-progress.ts';
import { sourceOf } from './source-of.ts';

/** Asks the gateway what became of a payout that it has. */
export function createLookAtPayout(deps: Dependencies) {
  return async function lookAtPayout(id: string): Promise<MoneyProgress> {
    const payout = await readPayout(deps.pool, id);
    if (payout === null) throw new Error(`There is no payout ${id}.`);
    const { gateway } = sourceOf(deps, payout.source);
    // Read before the gateway is asked, so that its answer covers them.
    const events = await readPayoutEvents(deps.pool, payout);
    const facts =
      payout.gatewayPayoutId === null
        ? await findPayout(gateway, payout)
        : await gateway.fetchPayout(payout.gatewayPayoutId);
    if (facts !== null)
      await recordPayout(deps.pool, id, facts, { cause: payoutWorkflowId(id), answered: false, events });
    deps.wakeRelay();
    return readProgress(deps.pool, 'payout', id);
  };
}
