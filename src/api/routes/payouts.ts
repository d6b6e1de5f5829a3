import { reservePayout } from '../../database/reserve-payout.ts';
import { moneyPath } from '../../database/reservation.ts';
import { moneyWorkflowId } from '../../database/money-move.ts';
import { Problem } from '../../domain/problem.ts';
import { completeReservation } from '../complete-reservation.ts';
import { getMove } from '../get-move.ts';
import { defineRoute } from '../route.ts';
import { runIdempotent } from '../run-idempotent.ts';
import { newPayout, payout } from '../schemas/money.ts';
import { sourceThat } from '../source-that.ts';

const PATH = '/v1/payouts';

export const createPayout = defineRoute({
  method: 'POST',
  path: PATH,
  scope: 'money',
  summary: 'Pay a seller out for a day, once.',
  keyed: true,
  body: newPayout,
  answers: {
    201: { description: 'The gateway has answered.', schema: payout },
    202: { description: 'It has not yet, or a person decides; Location shows what becomes of it.', schema: payout },
  },
  problems: ['payout_exists', 'not_supported'],
  async handle(deps, { client, idempotencyKey, body, sent }) {
    const { source, seller_id: sellerId, settlement_date: settlementDate, currency, destination } = body;
    return runIdempotent(
      deps,
      { client, method: 'POST', path: PATH, key: idempotencyKey, sent },
      {
        async reserve(tx) {
          const { mode } = sourceThat(deps, 'paysOut', source);
          const { result, id } = await reservePayout(tx, {
            ...{ mode, source, sellerId, settlementDate, currency, destination },
            ...{ amount: BigInt(body.amount), requestedBy: client },
          });
          if (result === 'exists') {
            throw new Problem('payout_exists', `Payout ${id} is this seller's of ${settlementDate}.`, {
              headers: { location: moneyPath('payout', id) },
            });
          }
          return { reservation: moneyWorkflowId('payout', id) };
        },
        complete: (reservation) => completeReservation(deps, reservation),
      },
    );
  },
});

export const getPayout = defineRoute({
  method: 'GET',
  path: '/v1/payouts/{id}',
  scope: 'money',
  summary: 'A payout as it stands.',
  answers: { 200: { description: 'The payout.', schema: payout } },
  problems: ['not_found'],
  handle: (deps, { params }) => getMove(deps, 'payout', params.id),
});
