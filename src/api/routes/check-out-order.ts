import { setTimeout as delay } from 'node:timers/promises';
import { type Checkout, readCheckout } from '../../database/checkout.ts';
import type { StoredAnswer } from '../../database/idempotency.ts';
import { reserveCheckout } from '../../database/reserve-checkout.ts';
import { isUsableId } from '../../domain/admit-event.ts';
import { checkoutWorkflowId, parseCheckoutWorkflowId } from '../../domain/keys.ts';
import { Problem } from '../../domain/problem.ts';
import { startRequested } from '../../relay/start-requested.ts';
import type { ApiDeps } from '../deps.ts';
import { jsonText } from '../json-text.ts';
import { mistake } from '../mistakes.ts';
import { defineRoute, json } from '../route.ts';
import { runIdempotent } from '../run-idempotent.ts';
import { checkout, newCheckout } from '../schemas/order.ts';
import { within } from '../within.ts';

/** What the contract gives a silent gateway, for the start of the workflow and its answer together. */
const LONGEST_WAIT_MS = 5_000;
const FIRST_POLL_MS = 25;
const SLOWEST_POLL_MS = 250;
const RETRY_AFTER_SECONDS = 2;

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
          const returnUrl = body.return_url ?? null;
          const reserved = await reserveCheckout(tx, { orderId, source: body.source, returnUrl });
          if (reserved === 'not_found') throw new Problem('not_found', 'There is no order of this id.');
          if (reserved === 'not_payable')
            throw new Problem('order_not_payable', 'The order is paid, cancelled or expired.');
          return { reservation: checkoutWorkflowId(orderId, reserved.n) };
        },
        complete: (reservation) => startAndAnswer(deps, reservation),
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
    return json(200, view(found));
  },
});

async function startAndAnswer(deps: ApiDeps, reservation: string): Promise<StoredAnswer> {
  const deadline = Date.now() + LONGEST_WAIT_MS;
  const { orderId, n } = parseCheckoutWorkflowId(reservation) ?? { orderId: '', n: 0 };
  let found = await reservedCheckout(deps, orderId, n);
  if (found.status === 'pending' && (await started(deps, found, deadline))) {
    for (let pause = FIRST_POLL_MS; found.status === 'pending' && Date.now() + pause < deadline;) {
      await delay(pause);
      pause = Math.min(pause * 2, SLOWEST_POLL_MS);
      found = await reservedCheckout(deps, orderId, n);
    }
  }
  const headers = { 'content-type': 'application/json' };
  const location = `/v1/orders/${encodeURIComponent(orderId)}/checkouts/${n}`;
  return found.status === 'succeeded' || found.status === 'failed'
    ? { status: 201, headers, body: jsonText(view(found)) }
    : {
        status: 202,
        headers: { ...headers, location, 'retry-after': String(RETRY_AFTER_SECONDS) },
        body: jsonText(view(found)),
      };
}

async function reservedCheckout(deps: ApiDeps, orderId: string, n: number): Promise<Checkout> {
  const found = await readCheckout(deps.pool, orderId, n);
  if (found === null) throw new Error(`The reserved checkout ${n} of order ${orderId} is gone.`);
  return found;
}

/** Starts the workflow at once; where Temporal is away, the relay starts it later and there is nothing to wait for. */
async function started(deps: ApiDeps, { orderId, n, source }: Checkout, deadline: number): Promise<boolean> {
  const { temporal } = deps;
  const row = {
    eventType: 'checkout.requested',
    aggregateId: checkoutWorkflowId(orderId, n),
    payload: { order_id: orderId, n, source },
  };
  try {
    await within(deadline, () => temporal.withDeadline(deadline, () => startRequested(temporal.workflow, row)));
    return true;
  } catch (error) {
    deps.log.warn({ err: error, order_id: orderId, n }, 'checkout not started at once');
    return false;
  }
}

function view(found: Checkout) {
  return {
    order_id: found.orderId,
    n: found.n,
    source: found.source,
    status: found.status,
    payment_id: found.paymentId ?? undefined,
    checkout_url: found.checkoutUrl ?? undefined,
    client_secret: found.clientSecret ?? undefined,
    failure_code: found.failureCode ?? undefined,
    workflow_id: checkoutWorkflowId(found.orderId, found.n),
  };
}
