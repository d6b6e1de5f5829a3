import { readAuthorizationMove } from '../database/authorization-move.ts';
import type { AuthorizationMoveKind } from '../domain/authorization-moves.ts';
import type { Dependencies } from './dependencies.ts';
import { readProgress, type MoneyProgress } from './money-progress.ts';
import { settleByPayment } from './settle-by-payment.ts';

/** Has the payment's own workflow look at the gateway now, and answers what became of the capture or the void by that. */
export function createLookAtAuthorizationMove(deps: Dependencies) {
  return async function lookAtAuthorizationMove(kind: AuthorizationMoveKind, id: string): Promise<MoneyProgress> {
    const move = await readAuthorizationMove(deps.pool, kind, id);
    if (move === null) throw new Error(`There is no ${kind} ${id}.`);
    await settleByPayment(deps, move);
    return readProgress(deps.pool, kind, id);
  };
}
