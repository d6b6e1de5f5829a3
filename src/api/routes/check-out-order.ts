import { readCheckout } from '../../database/checkout.ts';
import { checkoutView } from '../../database/reservation.ts';
import { reserveCheckout } from '../../database/reserve-checkout.ts';
import { isUsableId } from '../../domain/admit-event.ts';
import { checkoutWorkflowId } from '../../domain/keys.ts';
import { Problem } from '../../domain/problem.ts';
import { completeReservation } from '../complete-reservation.ts';
import { mistake } from '../mistakes.ts';
import { defineRoute, json } from '../route.ts';
import { refuseOtherMode } from '../refuse-other-mode.ts';
import { runIdempotent } from '../run-idempotent.ts';
import { checkout, newCheckout } from '../schemas/order.ts';

export const checkOutOrder = defineRoute({
  method: 'POST',
  path: '/v1/orders/{order_id}/checkout',
  scope: 'orders',
  summary: 'Prepare a payment for what is still due.',
  keyed: true,
  body: newCheckout,
  answers: {
    201: { description: 'The gateway has answered.', schema: checkout },
    202: { description: 'The gateway is silent; Location shows what becomes of it.', schema: checkout },
  },
  problems: ['not_found', 'order_not_payable', 'checkout_not_supported'],
  async handle(deps, { params, client, idempotencyKey, body, sent }) {
    const orderId = params.order_id;
    if (!isUsableId(orderId)) throw new Problem('not_found', 'There is no order of this id.');
    const source = deps.sources.get(body.source);
    if (source === undefined) throw mistake('source', 'is not the name of a configured source');
    if (!source.gateway.capabilities.preparesPayments) {
      throw new Problem('checkout_not_supported', `At ${body.source} the customer's browser begins the payment.`);
    }
    const path = `/v1/orders/${encodeURIComponent(orderId)}/checkout`;
    return runIdempotent(
      deps,
      { client, method: 'POST', path, key: idempotencyKey, sent },
      {
        async reserve(tx) {
          await refuseOtherMode(deps, tx, orderId, body.source);
          const returnUrl = body.return_url ?? null;
          const reserved = await reserveCheckout(tx, { orderId, source: body.source, returnUrl });
          if (reserved === 'not_found') throw new Problem('not_found', 'There is no order of this id.');
          if (reserved === 'not_payable')
            throw new Problem('order_not_payable', 'The order is paid, cancelled or expired.');
          return { reservation: checkoutWorkflowId(orderId, reserved.n) };
        },
        complete: (reservation) => completeReservation(deps, reservation),
      },
    );
  },
});

export const getCheckout = defineRoute({
  method: 'GET',
  path: '/v1/orders/{order_id}/checkouts/{n}',
  scope: 'orders',
  summary: 'What became of a checkout.',
  answers: { 200: { description: 'The checkout.', schema: checkout } },
  problems: ['not_found'],
  async handle(deps, { params }) {
    const known = isUsableId(params.order_id) && /^\d{1,9}$/.test(params.n);
    const found = known ? await readCheckout(deps.pool, params.order_id, Number(params.n)) : null;
    if (found === null) throw new Problem('not_found', 'There is no such checkout.');
    return json(200, checkoutView(found));
  },
});
