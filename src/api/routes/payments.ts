import { readOrder } from '../../database/read-order.ts';
import { readPayment } from '../../database/read-payment.ts';
import { readTimeline } from '../../database/read-timeline.ts';
import { isUsableId } from '../../domain/admit-event.ts';
import { paymentWorkflowId } from '../../domain/keys.ts';
import { Problem } from '../../domain/problem.ts';
import { confirmPayment as confirm } from '../confirm-payment.ts';
import type { ApiDeps } from '../deps.ts';
import { mistake } from '../mistakes.ts';
import { noPayment } from '../no-payment.ts';
import { defineRoute, json } from '../route.ts';
import { confirmation, payment, timeline } from '../schemas/payment.ts';
import { timelineEntries } from '../timeline-entry.ts';

const SCOPE = 'orders';

export const getPayment = defineRoute({
  method: 'GET',
  path: '/v1/payments/{source}/{payment_id}',
  scope: SCOPE,
  summary: 'A payment, what it counts for, its refunds and its disputes.',
  answers: { 200: { description: 'The payment.', schema: payment } },
  problems: ['not_found'],
  async handle(deps, { params: { source, payment_id: paymentId } }) {
    const found = isUsableId(paymentId) ? await readPayment(deps.pool, source, paymentId) : null;
    if (found === null) throw noPayment('not_found');
    const workflowId = paymentWorkflowId(source, paymentId);
    return json(200, { ...found, workflow_id: workflowId, temporal_url: temporalUrl(deps, workflowId) });
  },
});

export const getTimeline = defineRoute({
  method: 'GET',
  path: '/v1/payments/{source}/{payment_id}/timeline',
  scope: SCOPE,
  summary: 'Everything that happened to a payment, in order.',
  answers: { 200: { description: 'One page holds it all.', schema: timeline } },
  problems: ['not_found'],
  async handle(deps, { params: { source, payment_id: paymentId } }) {
    const rows = isUsableId(paymentId) ? await readTimeline(deps.pool, source, paymentId) : [];
    if (rows.length === 0) throw noPayment('not_found');
    return json(200, { data: rows.flatMap((row) => timelineEntries(row, deps.mailConfigured)), next_cursor: null });
  },
});

export const confirmPayment = defineRoute({
  method: 'POST',
  path: '/v1/payments/{source}/{payment_id}/confirm',
  scope: SCOPE,
  summary: "The customer's browser came back: what became of the payment?",
  answers: { 200: { description: "The caller's own outcome.", schema: confirmation } },
  problems: ['unknown_source', 'validation_failed'],
  async handle(deps, { params: { source, payment_id: paymentId } }) {
    if (!deps.sources.has(source)) throw new Problem('unknown_source', 'No source of this name is configured here.');
    if (!isUsableId(paymentId)) throw mistake('payment_id', 'must be 1 to 200 visible ASCII characters');
    const outcome = await confirm(deps, source, paymentId);
    const orderId = (await readPayment(deps.pool, source, paymentId))?.order_id ?? null;
    return json(200, { outcome, order: orderId === null ? null : await readOrder(deps.pool, orderId) });
  },
});

function temporalUrl({ temporalUi }: Pick<ApiDeps, 'temporalUi'>, workflowId: string): string | null {
  if (temporalUi === null) return null;
  const { url, namespace } = temporalUi;
  return `${url}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(workflowId)}`;
}
