import { isOfOtherMode } from '../database/is-of-other-mode.ts';
import type { Tx } from '../database/pool.ts';
import { Problem } from '../domain/problem.ts';
import type { ApiDeps } from './deps.ts';

/**
 * Money of one mode pays no order of the other (A8).
 *
 * @param source a configured account
 * @throws Problem `order_not_payable`
 */
export async function refuseOtherMode(
  { sources }: Pick<ApiDeps, 'sources'>,
  tx: Tx,
  orderId: string,
  source: string,
): Promise<void> {
  const mode = sources.get(source)?.mode;
  const others = [...sources].flatMap(([name, other]) => (other.mode === mode ? [] : [name]));
  if (!(await isOfOtherMode(tx, orderId, others))) return;
  const detail = `${source} is a ${mode} account, and the order is paid at one of the other mode: make an order of its own for it.`;
  throw new Problem('order_not_payable', detail);
}
