import type { MoneyMoveKind } from '../database/money-move.ts';
import { readMoneyView } from '../database/read-money-view.ts';
import { isStorableText } from '../domain/cleaned-text.ts';
import { Problem } from '../domain/problem.ts';
import type { ApiDeps } from './deps.ts';
import type { HttpAnswer } from './problem-response.ts';
import { json } from './route.ts';

const NAMES: Readonly<Record<MoneyMoveKind, string>> = {
  ...{ refund: 'refund', payout: 'payout', charge: 'charge', top_up: 'top-up', capture: 'capture', void: 'void' },
};

/**
 * The current state of a refund, payout, charge, top-up, capture or void.
 *
 * @throws Problem `not_found`
 */
export async function getMove({ pool }: Pick<ApiDeps, 'pool'>, kind: MoneyMoveKind, id: string): Promise<HttpAnswer> {
  const found = isStorableText(id) ? await readMoneyView(pool, kind, id) : null;
  if (found === null) throw new Problem('not_found', `There is no ${NAMES[kind]} of this id.`);
  return json(200, found);
}
