import { reserveRefund, type RefundRequest } from '../../database/reserve-refund.ts';
import type { Tx } from '../../database/pool.ts';
import { Problem } from '../../domain/problem.ts';
import { getMove } from '../get-move.ts';
import { noPayment } from '../no-payment.ts';
import { defineRoute } from '../route.ts';
import { runMoneyMove } from '../run-money-move.ts';
import { newRefund, refund } from '../schemas/money.ts';

const PATH = '/v1/refunds';

export const createRefund = defineRoute({
  method: 'POST',
  path: PATH,
  scope: 'money',
  summary: 'Give money of a payment back.',
  keyed: true,
  body: newRefund,
  answers: {
    201: { description: 'The gateway has answered.', schema: refund },
    202: { description: 'It has not yet, or a person decides; Location shows what becomes of it.', schema: refund },
  },
  problems: ['payment_not_found', 'payment_not_refundable', 'refund_exceeds_captured'],
  async handle(deps, { client, idempotencyKey, body, sent }) {
    const { source, payment_id: paymentId } = body;
    const amount = body.amount == null ? null : BigInt(body.amount);
    const reason = body.reason ?? null;
    return runMoneyMove(
      deps,
      { client, method: 'POST', path: PATH, key: idempotencyKey, sent },
      {
        ...{ kind: 'refund', prefix: 'rf_' },
        asked: { source, payment_id: paymentId, amount: amount ?? undefined, reason },
        async reserve(tx, id) {
          // A source that is not configured has no payments that anybody could give back.
          if (!deps.sources.has(source)) throw noPayment();
          await reserve(tx, { id, source, paymentId, amount, reason, requestedBy: client });
        },
      },
    );
  },
});

export const getRefund = defineRoute({
  method: 'GET',
  path: '/v1/refunds/{id}',
  scope: 'money',
  summary: 'A refund as it stands, whoever began it.',
  answers: { 200: { description: 'The refund.', schema: refund } },
  problems: ['not_found'],
  handle: (deps, { params }) => getMove(deps, 'refund', params.id),
});

async function reserve(tx: Tx, request: RefundRequest): Promise<void> {
  const reserved = await reserveRefund(tx, request);
  switch (reserved.result) {
    case 'reserved':
      return;
    case 'payment_not_found':
      throw noPayment();
    case 'payment_not_refundable':
      throw new Problem('payment_not_refundable', 'The payment is not captured: there is nothing to give back.');
    case 'refund_exceeds_captured':
      throw new Problem(
        'refund_exceeds_captured',
        `Of this payment ${reserved.refundable} ${reserved.currency} (minor units) can still be refunded.`,
      );
  }
}
