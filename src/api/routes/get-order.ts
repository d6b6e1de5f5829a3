import type { Db } from '../../database/pool.ts';
import { type OrderView, readOrder } from '../../database/read-order.ts';
import { isUsableId } from '../../domain/admit-event.ts';
import { Problem } from '../../domain/problem.ts';
import { defineRoute, json } from '../route.ts';
import { order } from '../schemas/order.ts';

export const getOrder = defineRoute({
  method: 'GET',
  path: '/v1/orders/{order_id}',
  scope: 'orders',
  summary: 'An order with its payments, refunds and consequences.',
  answers: { 200: { description: 'The order.', schema: order } },
  problems: ['not_found'],
  handle: async (deps, { params }) => json(200, await orderOrProblem(deps.pool, params.order_id)),
});

/** @throws Problem `not_found` */
export async function orderOrProblem(db: Db, orderId: string): Promise<OrderView> {
  const found = isUsableId(orderId) ? await readOrder(db, orderId) : null;
  if (found === null) throw new Problem('not_found', 'There is no order of this id.');
  return found;
}
