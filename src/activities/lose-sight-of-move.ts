import { giveUpMove } from '../database/give-up-move.ts';
import { readMoneyMove, type MoneyMoveKind } from '../database/money-move.ts';
import type { Dependencies } from './dependencies.ts';
import { readProgress, type MoneyProgress } from './money-progress.ts';

/**
 * The retries are used up and nobody knows whether it happened: a human is told, and the machine goes on looking (F3, F5).
 */
export function createLoseSightOfMove(deps: Dependencies) {
  return async function loseSightOfMove(kind: MoneyMoveKind, id: string, message: string): Promise<MoneyProgress> {
    const move = await readMoneyMove(deps.pool, kind, id);
    if (move === null) throw new Error(`There is no ${kind} ${id}.`);
    // Decided while the last attempts ran: the same question is not asked again.
    if (move.givenUp) return readProgress(deps.pool, kind, id);
    await giveUpMove(deps.pool, move, 'unknown', { code: null, message });
    if (move.status === 'pending') deps.metrics.deadLetters.inc({ kind: 'outcome_unknown' });
    return readProgress(deps.pool, kind, id);
  };
}
