import { readMoneyMove, type MoneyMoveKind, type MoneyStatus } from '../database/money-move.ts';
import type { Pool } from '../database/pool.ts';

/** A refund, payout, charge or top-up as its workflow sees it: no bigint, no personal data. */
export interface MoneyProgress {
  readonly status: MoneyStatus;
  /** The gateway has it: only its final word is missing. */
  readonly placed: boolean;
  /** A person decided that the machine shall stop. */
  readonly givenUp: boolean;
  /** Minor units, as decimal text. */
  readonly amount: string;
  readonly currency: string;
  readonly gatewayId: string | null;
  readonly orderId: string | null;
  readonly lastError: string | null;
}

/** Not once it is over or before a person, nor once the gateway has it, nor after a person has told the machine to stop. */
export function mayBeSent({ status, placed, givenUp }: MoneyProgress): boolean {
  return (status === 'pending' || status === 'unknown') && !placed && !givenUp;
}

/** As PostgreSQL has it now. */
export async function readProgress(pool: Pool, kind: MoneyMoveKind, id: string): Promise<MoneyProgress> {
  const move = await readMoneyMove(pool, kind, id);
  if (move === null) throw new Error(`There is no ${kind} ${id}.`);
  const { status, currency, gatewayId, orderId, lastError, givenUp } = move;
  return {
    ...{ status, placed: gatewayId !== null, givenUp, amount: move.amount.toString() },
    ...{ currency, gatewayId, orderId, lastError },
  };
}
