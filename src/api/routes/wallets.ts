import { readWallet } from '../../database/read-wallet.ts';
import { isUsableId } from '../../domain/admit-event.ts';
import { Problem } from '../../domain/problem.ts';
import { defineRoute, json } from '../route.ts';
import { wallet } from '../schemas/money.ts';

export const getWallet = defineRoute({
  method: 'GET',
  path: '/v1/wallets/{wallet_id}',
  scope: 'money',
  summary: 'A wallet and what is in it.',
  answers: { 200: { description: 'The wallet.', schema: wallet } },
  problems: ['not_found'],
  async handle(deps, { params }) {
    const found = isUsableId(params.wallet_id) ? await readWallet(deps.pool, params.wallet_id) : null;
    if (found === null) throw new Problem('not_found', 'There is no wallet of this id; its first top-up makes it.');
    return json(200, found);
  },
});
