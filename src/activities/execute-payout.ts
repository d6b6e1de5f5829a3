import { noteSending } from '../database/gateway-call.ts';
import { giveUpMove } from '../database/give-up-move.ts';
import { readPayout } from '../database/read-payout.ts';
import { recordPayout } from '../database/record-payout.ts';
import type { PayoutFacts } from '../domain/gateway-facts.ts';
import { payoutWorkflowId } from '../domain/keys.ts';
import type { Dependencies } from './dependencies.ts';
import { findPayout } from './find-payout.ts';
import { lookThenCreate } from './look-then-create.ts';
import { mayBeSent, readProgress, type MoneyProgress } from './money-progress.ts';
import { sourceOf } from './source-of.ts';

/** One attempt to carry out a reserved payout: looks first, sends only what is surely absent, records the answer. */
export function createExecutePayout(deps: Dependencies) {
  return async function executePayout(id: string): Promise<MoneyProgress> {
    const payout = await readPayout(deps.pool, id);
    if (payout === null) throw new Error(`There is no payout ${id}.`);
    const before = await readProgress(deps.pool, 'payout', id);
    if (!mayBeSent(before)) return before;
    const { source, reference } = payout;
    const { gateway } = sourceOf(deps, source);
    const sent = await lookThenCreate<PayoutFacts>(deps, gateway, {
      reference,
      find: () => findPayout(gateway, payout),
      create: async (idempotencyKey, at) => {
        await noteSending(deps.pool, { source, reference, at });
        return gateway.createPayout({ ...payout, idempotencyKey });
      },
    });
    if (sent.result === 'done') {
      await recordPayout(deps.pool, id, sent.found, { cause: payoutWorkflowId(id), answered: true });
    }
    if (sent.result === 'rejected') await giveUpMove(deps.pool, { kind: 'payout', id }, 'rejected', sent.error);
    deps.wakeRelay();
    return readProgress(deps.pool, 'payout', id);
  };
}
