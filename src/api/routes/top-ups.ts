import type { Tx } from '../../database/pool.ts';
import { reserveTopUp, type TopUpRequest } from '../../database/reserve-top-up.ts';
import { isUsableId } from '../../domain/admit-event.ts';
import { Problem } from '../../domain/problem.ts';
import { getMove } from '../get-move.ts';
import { mistake } from '../mistakes.ts';
import { defineRoute } from '../route.ts';
import { runMoneyMove } from '../run-money-move.ts';
import { newTopUp, topUp } from '../schemas/money.ts';
import { sourceThat } from '../source-that.ts';

export const createTopUp = defineRoute({
  method: 'POST',
  path: '/v1/wallets/{wallet_id}/top-ups',
  scope: 'money',
  summary: 'Charge a saved card for a wallet; the first top-up makes the wallet.',
  keyed: true,
  body: newTopUp,
  answers: {
    201: { description: 'The gateway has answered; a declined card is failed.', schema: topUp },
    202: { description: 'It has not yet, or a person decides; Location shows what becomes of it.', schema: topUp },
  },
  problems: ['currency_mismatch', 'customer_mismatch', 'not_supported'],
  async handle(deps, { params, client, idempotencyKey, body, sent }) {
    const walletId = params.wallet_id;
    if (!isUsableId(walletId)) throw mistake('wallet_id', 'must be 1 to 200 visible ASCII characters');
    const { source, customer_id: customerId, payment_method: paymentMethod, currency } = body;
    const amount = BigInt(body.amount);
    const path = `/v1/wallets/${encodeURIComponent(walletId)}/top-ups`;
    return runMoneyMove(
      deps,
      { client, method: 'POST', path, key: idempotencyKey, sent },
      {
        ...{ kind: 'top_up', prefix: 'tu_' },
        asked: { source, customer_id: customerId, payment_method: paymentMethod, amount, currency },
        async reserve(tx, id) {
          sourceThat(deps, 'chargesSavedCards', source);
          const requestedBy = client;
          await reserve(tx, { id, walletId, source, customerId, paymentMethod, amount, currency, requestedBy });
        },
      },
    );
  },
});

export const getTopUp = defineRoute({
  method: 'GET',
  path: '/v1/top-ups/{id}',
  scope: 'money',
  summary: 'A top-up as it stands, with the balance of its wallet.',
  answers: { 200: { description: 'The top-up.', schema: topUp } },
  problems: ['not_found'],
  handle: (deps, { params }) => getMove(deps, 'top_up', params.id),
});

async function reserve(tx: Tx, request: TopUpRequest): Promise<void> {
  const reserved = await reserveTopUp(tx, request);
  switch (reserved.result) {
    case 'reserved':
      return;
    case 'currency_mismatch':
      throw new Problem('currency_mismatch', `The wallet is in ${reserved.currency}, not in ${request.currency}.`);
    case 'other_customer':
      throw new Problem('customer_mismatch', 'The wallet was made for another customer_id.');
  }
}
