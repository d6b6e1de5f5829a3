import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { createOrder as writeOrder, type NewOrder, type WokenPayment } from '../../database/create-order.ts';
import { readOrder } from '../../database/read-order.ts';
import { jsonText } from '../../domain/json-text.ts';
import { orderWorkflowId } from '../../domain/keys.ts';
import { Problem } from '../../domain/problem.ts';
import { startRequested } from '../../relay/start-requested.ts';
import type { ApiDeps } from '../deps.ts';
import { defineRoute } from '../route.ts';
import { runIdempotent } from '../run-idempotent.ts';
import { newOrder, order, orderMistakes } from '../schemas/order.ts';

export const createOrder = defineRoute({
  method: 'POST',
  path: '/v1/orders',
  scope: 'orders',
  summary: 'Create an order; payments that came before it are matched at once.',
  keyed: true,
  body: newOrder,
  check: orderMistakes,
  answers: { 201: { description: 'The order.', schema: order } },
  problems: ['order_exists'],
  async handle(deps, { client, idempotencyKey, body, sent }) {
    const asked = orderOf(body, client, idempotencyKey);
    let woken: readonly WokenPayment[] | null = null;
    const call = { client, method: 'POST', path: '/v1/orders', key: idempotencyKey, sent };
    const answer = await runIdempotent(deps, call, {
      async reserve(tx) {
        const created = await writeOrder(tx, asked);
        if (created === 'exists') throw new Problem('order_exists', `There is an order ${asked.id} already.`);
        woken = created.woken;
        const view = await readOrder(tx, asked.id);
        const headers = { 'content-type': 'application/json', location: `/v1/orders/${encodeURIComponent(asked.id)}` };
        return { answer: { status: 201, headers, body: jsonText(view) } };
      },
      complete() {
        throw new Error('An order is answered in the transaction that makes it; nothing is reserved.');
      },
    });
    if (woken !== null) afterCommit(deps, asked, woken);
    return answer;
  },
});

/** What the relay would do in a moment anyway. */
function afterCommit(deps: ApiDeps, { id, expiresAt }: NewOrder, woken: readonly WokenPayment[]): void {
  for (const { source, paymentId, eventId } of woken) {
    // A payment that is known without an event is woken all the same; the event's id is only a hint.
    deps.handOvers.start({ source, paymentId, orderId: id, eventId: eventId ?? orderWorkflowId(id) });
  }
  if (expiresAt === null) return;
  const row = { eventType: 'order.expiry_requested', aggregateId: id, payload: { order_id: id } };
  void startRequested(deps.temporal.workflow, row).catch((error: unknown) => {
    deps.log.debug({ err: error, order_id: id }, 'expiry not started at once');
  });
}

function orderOf(body: z.output<typeof newOrder>, client: string, key: string): NewOrder {
  return {
    id: body.id ?? derivedOrderId(client, key),
    currency: body.currency,
    amount: BigInt(body.amount),
    customer: { id: body.customer.id, email: body.customer.email ?? null, name: body.customer.name ?? null },
    lines: body.lines.map((line) => ({
      id: line.id,
      kind: line.kind,
      amount: BigInt(line.amount),
      quantity: line.quantity ?? 1,
      reference: line.reference ?? null,
    })),
    expiresAt: body.expires_at ?? null,
    createdBy: client,
  };
}

/** Derived, not drawn: should the key ever be forgotten, the same request still cannot make a second order. */
function derivedOrderId(client: string, key: string): string {
  return `ord_${createHash('sha256').update(`${client}\n${key}`).digest('hex').slice(0, 24)}`;
}
