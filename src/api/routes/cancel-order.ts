import { cancelOrder as cancel } from '../../database/cancel-order.ts';
import { Problem } from '../../domain/problem.ts';
import { defineRoute, json } from '../route.ts';
import { order } from '../schemas/order.ts';
import { orderOrProblem } from './get-order.ts';

export const cancelOrder = defineRoute({
  method: 'POST',
  path: '/v1/orders/{order_id}/cancel',
  scope: 'orders',
  summary: 'Cancel an order that is not paid; what counts for it is given back.',
  answers: { 200: { description: 'The order, also when it was cancelled before.', schema: order } },
  problems: ['not_found', 'order_not_cancellable'],
  async handle(deps, { params, client }) {
    const { id: orderId, status } = await orderOrProblem(deps.pool, params.order_id);
    const result = await cancel(deps.pool, { orderId, policies: deps.policies, cause: `cancelled by ${client}` });
    deps.wakeRelays();
    if (result === 'not_cancellable') {
      throw new Problem('order_not_cancellable', `The order is ${status}; only one that is not paid can be cancelled.`);
    }
    return json(200, await orderOrProblem(deps.pool, orderId));
  },
});
