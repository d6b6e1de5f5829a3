import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createExecuteCardPayment } from '../../src/activities/execute-card-payment.ts';
import type { Dependencies } from '../../src/activities/dependencies.ts';
import { runAudit } from '../../src/database/audit.ts';
import { cancelOrder } from '../../src/database/cancel-order.ts';
import { decideDeadLetter } from '../../src/database/decide-dead-letter.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import { type RequestedWork, startRequested } from '../../src/relay/start-requested.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { standardSource } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { openPaymentLab, type PaymentLab } from '../support/payment-lab.ts';
import { facts, look, seedOrder } from '../support/seed.ts';
import { seedCard, seedEnd } from '../support/seed-storm-of-moves.ts';

let lab: PaymentLab;
beforeAll(async () => {
  lab = await openPaymentLab({ relay: false });
});
afterAll(() => lab.close());

/** One attempt, by itself. */
function attempt(kind: 'charge' | 'top_up', id: string): Promise<unknown> {
  const deps = {
    ...{ pool: lab.db.pool, sources: new Map([standardSource(lab.simulator.url)]), policies: DEFAULT_POLICIES },
    ...{ metrics: createMetrics(), wakeRelay: () => undefined },
  } as unknown as Dependencies;
  return new MockActivityEnvironment().run(createExecuteCardPayment(deps), kind, id);
}
const charge = (id: string) => lab.row('select status, failure_code, payment_id from charges where id = $1', id);
async function paymentsAtGateway(reference: string): Promise<unknown[]> {
  const answer = await fetch(`${lab.simulator.url}/payments?reference=${encodeURIComponent(reference)}`, {
    headers: { authorization: 'Bearer sim-key' },
  });
  return ((await answer.json()) as { data: unknown[] }).data;
}

it.each([
  [
    'was cancelled',
    (orderId: string) => cancelOrder(lab.db.pool, { orderId, cause: 'test', policies: DEFAULT_POLICIES }),
  ],
  ['was paid otherwise', (orderId: string) => look(lab.db.pool, facts({ paymentId: `pay_${orderId}`, orderId }))],
  [
    'takes less by now',
    (orderId: string) => look(lab.db.pool, facts({ paymentId: `pay_${orderId}`, orderId, amount: 1n })),
  ],
])('a card is not charged for an order that %s before it was sent', async (how, change) => {
  const name = how.replaceAll(' ', '_');
  await seedOrder(lab.db.pool, { id: `ord_${name}` });
  const id = await seedCard(lab.db.pool, 'charge', name);
  await change(`ord_${name}`);
  await attempt('charge', id);
  expect(await charge(id)).toEqual({ status: 'failed', failure_code: 'order_not_payable', payment_id: null });
  expect(await paymentsAtGateway(`charge:${id}`)).toEqual([]);
});

it.each([
  ['another order', { order_id: 'ord_of_another' }],
  ['another amount', { amount: 9_999 }],
  ['another currency', { currency: 'USD' }],
])('what a gateway shows under our reference for %s is neither found nor absent', async (what, other) => {
  const name = what.replaceAll(' ', '_');
  await seedOrder(lab.db.pool, { id: `ord_${name}` });
  const id = await seedCard(lab.db.pool, 'charge', name);
  await lab.pay(`pay_${name}`, `ord_${name}`, { reference: `charge:${id}`, ...other });
  await expect(attempt('charge', id)).rejects.toThrow('than was asked for');
  expect(await charge(id)).toMatchObject({ status: 'pending', payment_id: null });
  expect(await paymentsAtGateway(`charge:${id}`)).toHaveLength(1);
});

it('a charge that a person saw at the gateway pays its order, and needs to be named', async () => {
  await seedOrder(lab.db.pool, { id: 'ord_seen' });
  const id = await seedCard(lab.db.pool, 'charge', 'seen');
  await seedEnd(lab.db.pool, 'charge', id, 'unknown');
  await lab.pay('pay_seen', 'ord_seen');
  const decision = {
    deadLetterId: `outcome_unknown:charge%3A${id}`,
    action: 'resolve',
    note: 'seen',
    by: 'support',
  } as const;
  const decide = (gatewayId: string | null) =>
    decideDeadLetter(lab.db.pool, { ...decision, outcome: 'succeeded', gatewayId }, DEFAULT_POLICIES);
  expect(await decide(null)).toMatchObject({ result: 'not_possible', reason: expect.stringContaining('gateway_id') });
  expect(await decide('pay_seen')).toEqual({ result: 'decided' });
  const asked = await lab.row<RequestedWork>(
    `select event_type as "eventType", aggregate_id as "aggregateId", payload from outbox where event_type = 'payment.waits'`,
  );
  expect(asked).toMatchObject({ aggregateId: 'pay_seen' });
  if (asked !== undefined) await startRequested(lab.client.workflow, asked);
  await eventually('its order is paid', () =>
    lab.row(`select 1 from orders where id = 'ord_seen' and status = 'paid'`),
  );
  expect(await charge(id)).toMatchObject({ status: 'succeeded', payment_id: 'pay_seen' });
  expect((await runAudit(lab.db.pool)).violations.filter((one) => one.order_id === 'ord_seen')).toEqual([]);
});
