import type { Tx } from '../../database/pool.ts';
import { reserveCharge, type ChargeRequest } from '../../database/reserve-charge.ts';
import { Problem } from '../../domain/problem.ts';
import { getMove } from '../get-move.ts';
import { defineRoute } from '../route.ts';
import { refuseOtherMode } from '../refuse-other-mode.ts';
import { runMoneyMove } from '../run-money-move.ts';
import { charge, newCharge } from '../schemas/money.ts';
import { sourceThat } from '../source-that.ts';

const PATH = '/v1/charges';

export const createCharge = defineRoute({
  method: 'POST',
  path: PATH,
  scope: 'money',
  summary: 'Charge a saved card for an order.',
  keyed: true,
  body: newCharge,
  answers: {
    201: { description: 'The gateway has answered; a declined card is failed.', schema: charge },
    202: { description: 'It has not yet, or a person decides; Location shows what becomes of it.', schema: charge },
  },
  problems: ['not_found', 'order_not_payable', 'currency_mismatch', 'amount_exceeds_due', 'not_supported'],
  async handle(deps, { client, idempotencyKey, body, sent }) {
    const { source, order_id: orderId, customer_id: customerId, payment_method: paymentMethod, currency } = body;
    const amount = BigInt(body.amount);
    return runMoneyMove(
      deps,
      { client, method: 'POST', path: PATH, key: idempotencyKey, sent },
      {
        ...{ kind: 'charge', prefix: 'ch_' },
        asked: { source, order_id: orderId, customer_id: customerId, payment_method: paymentMethod, amount, currency },
        async reserve(tx, id) {
          sourceThat(deps, 'chargesSavedCards', source);
          await refuseOtherMode(deps, tx, orderId, source);
          const requestedBy = client;
          await reserve(tx, { id, source, orderId, customerId, paymentMethod, amount, currency, requestedBy });
        },
      },
    );
  },
});

export const getCharge = defineRoute({
  method: 'GET',
  path: '/v1/charges/{id}',
  scope: 'money',
  summary: 'A charge of a saved card as it stands.',
  answers: { 200: { description: 'The charge.', schema: charge } },
  problems: ['not_found'],
  handle: (deps, { params }) => getMove(deps, 'charge', params.id),
});

async function reserve(tx: Tx, request: ChargeRequest): Promise<void> {
  const { currency } = request;
  const reserved = await reserveCharge(tx, request);
  switch (reserved.result) {
    case 'reserved':
      return;
    case 'not_found':
      throw new Problem('not_found', 'There is no order of this id.');
    case 'order_not_payable':
      throw new Problem('order_not_payable', 'The order is paid, cancelled or expired.');
    case 'currency_mismatch':
      throw new Problem('currency_mismatch', `The order is in ${reserved.currency}, not in ${currency}.`);
    case 'amount_exceeds_due':
      throw new Problem('amount_exceeds_due', `Of this order ${reserved.due} ${currency} (minor units) are due.`);
  }
}
