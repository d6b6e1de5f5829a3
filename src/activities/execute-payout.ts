import { noteSending } from '../database/gateway-call.ts';
import { giveUpMove } from '../database/give-up-move.ts';
import { readMoneyMove } from '../database/money-move.ts';
import { readPayout, type Payout } from '../database/read-payout.ts';
import { recordPayout } from '../database/record-payout.ts';
import type { PayoutFacts } from '../domain/gateway-facts.ts';
import { gatewayCallKey, payoutWorkflowId } from '../domain/keys.ts';
import type { Dependencies } from './dependencies.ts';
import { lookThenCreate } from './look-then-create.ts';
import { readProgress, type MoneyProgress } from './money-progress.ts';
import { settleTime } from './settle-time.ts';
import { sourceOf } from './source-of.ts';

/** One attempt to carry out a reserved payout: looks first, sends only what is surely absent, records the answer. */
export function createExecutePayout(deps: Dependencies) {
  return async function executePayout(id: string): Promise<MoneyProgress> {
    const payout = await readPayout(deps.pool, id);
    if (payout === null) throw new Error(`There is no payout ${id}.`);
    const before = await readProgress(deps.pool, 'payout', id);
    // A person has told the machine to stop: nothing is sent any more.
    if (before.givenUp) return before;
    const { source, reference, status } = payout;
    if ((status !== 'pending' && status !== 'unknown') || payout.gatewayPayoutId !== null) return before;
    const { gateway } = sourceOf(deps, source);
    const sent = await lookThenCreate<PayoutFacts>(deps, settleTime(gateway, deps.policies), {
      source,
      reference,
      find: async () => pickPayout(payout, await gateway.findPayouts(reference, payout.createdAt)),
      create: async (attempt, at) => {
        await noteSending(deps.pool, { source, reference, at });
        return gateway.createPayout({ ...payout, idempotencyKey: gatewayCallKey(reference, attempt) });
      },
    });
    if (sent.result === 'done') {
      await recordPayout(deps.pool, id, sent.found, { cause: payoutWorkflowId(id), answered: true });
    }
    if (sent.result === 'rejected') {
      const move = await readMoneyMove(deps.pool, 'payout', id);
      const { code, message } = sent.error;
      if (move !== null) await giveUpMove(deps.pool, move, 'rejected', { code, message });
    }
    deps.wakeRelay();
    return readProgress(deps.pool, 'payout', id);
  };
}

/** Of our payouts under one reference the one that counts: not those of attempts before the one that a person ordered (F3). */
export function pickPayout(payout: Payout, found: readonly PayoutFacts[]): PayoutFacts | null {
  const ours = found.filter((fact) => !payout.supersededGatewayIds.includes(fact.payoutId));
  return ours.find((fact) => fact.status !== 'failed') ?? ours[0] ?? null;
}
