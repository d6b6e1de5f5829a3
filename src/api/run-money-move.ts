import { createHash } from 'node:crypto';
import { moneyWorkflowId } from '../database/money-move.ts';
import type { Tx } from '../database/pool.ts';
import { readMoneyView } from '../database/read-money-view.ts';
import { Problem } from '../domain/problem.ts';
import { completeReservation } from './complete-reservation.ts';
import type { ApiDeps } from './deps.ts';
import type { HttpAnswer } from './problem-response.ts';
import { type KeyedCall, keyScope, runIdempotent } from './run-idempotent.ts';

/** One business of the money API whose id comes from the request's own key. */
export interface NewMove {
  readonly kind: 'refund' | 'charge' | 'top_up';
  readonly prefix: 'rf_' | 'ch_' | 'tu_';
  /** What was asked for, by the names under which the row shows it; undefined where the request left it open. */
  readonly asked: Readonly<Record<string, string | bigint | null | undefined>>;
  /** Writes the row under this id; a Problem thrown here leaves nothing behind. */
  readonly reserve: (tx: Tx, id: string) => Promise<void>;
}

/**
 * Runs a request that moves money, once under its key. The id is derived from scope and key, so that even when the key
 * is forgotten the same request meets its own row, and moves nothing a second time.
 */
export async function runMoneyMove(
  deps: Pick<ApiDeps, 'pool' | 'policies' | 'log' | 'temporal'>,
  call: KeyedCall,
  { kind, prefix, asked, reserve }: NewMove,
): Promise<HttpAnswer> {
  const id = `${prefix}${createHash('sha256')
    .update(`${keyScope(call)}\n${call.key}`)
    .digest('hex')
    .slice(0, 24)}`;
  return runIdempotent(deps, call, {
    async reserve(tx) {
      const before = await readMoneyView(tx, kind, id);
      if (before === null) await reserve(tx, id);
      else if (Object.entries(asked).some(([field, value]) => value !== undefined && before[field] !== value)) {
        throw new Problem(
          'idempotency_key_reused',
          `This key was used for ${id}, which is another one; send a fresh one.`,
        );
      }
      return { reservation: moneyWorkflowId(kind, id) };
    },
    complete: (reservation) => completeReservation(deps, reservation),
  });
}
