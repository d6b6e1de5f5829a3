import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { paymentStartOptions, refundStartOptions } from '../../src/relay/start-options.ts';
import { digestEffects } from '../support/effects.ts';
import { eventually } from '../support/eventually.ts';
import { liveEveryFate, payAndTell } from '../support/every-fate.ts';
import { forgetHistory } from '../support/forget-history.ts';
import { openSystem, type System } from '../support/system.ts';

let system: System;
/** What stood there before Temporal forgot everything. */
let before: Record<string, string>;
let gatewayBefore: unknown;

/** What the gateway holds, without how often it was asked. */
async function atGateway(): Promise<unknown> {
  const { payments, refunds } = await system.control('GET', '/state');
  return { payments, refunds };
}

beforeAll(async () => {
  system = await openSystem();
  await liveEveryFate(system);
  await system.expectCleanAudit();
  before = await digestEffects(system.db.pool);
  gatewayBefore = await atGateway();
  expect(await forgetHistory(system.temporal)).toBeGreaterThan(15);
}, 300_000);
afterAll(() => system.close());

async function expectNothingChanged(): Promise<void> {
  await system.settled();
  expect(await digestEffects(system.db.pool)).toEqual(before);
  expect(await atGateway()).toEqual(gatewayBefore);
}

describe('with all history of the engine gone', () => {
  it('every webhook that ever came, sent once more by its gateway, changes nothing', async () => {
    const { rows } = await system.db.pool.query<{ event_id: string; body: Buffer }>(
      'select event_id, body from webhook_deliveries order by received_at',
    );
    expect(rows.length).toBeGreaterThan(50);
    const answers = await Promise.all(rows.map(({ event_id, body }) => system.deliver(body, { id: event_id })));
    expect(answers.map(({ status, body }) => [status, body.duplicate])).toEqual(Array(rows.length).fill([200, true]));
    await expectNothingChanged();
  });

  it('nor does looking at every event again, in runs that remember nothing', async () => {
    const { rows } = await system.db.pool.query<{ event_id: string }>('select event_id from webhook_events');
    const answers = await Promise.all(
      rows.map(({ event_id }) => system.call('POST', `/v1/events/sim/${encodeURIComponent(event_id)}/replay`)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(rows.length).fill(202));
    await expectNothingChanged();
    const { count } = await system.temporal.client.workflow.count(`WorkflowType = 'processPayment'`);
    expect(count).toBeGreaterThan(10);
  });

  it('nor does a run of every payment and refund that two start at once, nor a browser that comes back', async () => {
    const { workflow } = system.temporal.client;
    const payments = await system.db.pool.query<{ id: string; order_id: string | null }>(
      `select payment_id as id, order_id from payments where status = 'captured' and waiting_for is null`,
    );
    const refunds = await system.db.pool.query<{ id: string; payment: string; order_id: string | null }>(
      `select id, payment_id as payment, order_id from refunds where kind <> 'gateway'`,
    );
    expect(refunds.rows.length).toBeGreaterThanOrEqual(4);
    const runs = [
      ...payments.rows.flatMap(({ id, order_id }) => {
        const options = paymentStartOptions('sim', id, order_id);
        return [0, 1].map(() => workflow.start('processPayment', options));
      }),
      ...refunds.rows.flatMap(({ id, payment, order_id }) => {
        const options = refundStartOptions({ refundId: id, source: 'sim', paymentId: payment, orderId: order_id });
        return [0, 1].map(() => workflow.start('refundPayment', options));
      }),
    ];
    await Promise.all((await Promise.all(runs)).map((run) => run.result()));
    for (const { id } of payments.rows) {
      const { body } = await system.call('POST', `/v1/payments/sim/${id}/confirm`);
      expect(body.outcome).toMatch(/^(already_paid_same_payment|extra_payment|not_payable|held_for_review)$/);
    }
    await expectNothingChanged();
  });

  it('what was waiting then is found all the same: an order that comes, a gateway that shows what was claimed', async () => {
    await system.order({ id: 'early' });
    await system.orderIs('early', { status: 'paid', paid_payment_id: 'pay_early_one' });
    await system.control('POST', '/payments/pay_claimed_one/capture');
    await system.orderIs('claimed', { status: 'paid', paid_payment_id: 'pay_claimed_one' });
    await system.eventIs('evt_pay_claimed_one', 'processed');
    await system.settled();
    expect(await system.count(`bookings where order_id in ('early', 'claimed')`)).toBe(2);
  });

  it('and another capture of an order that was paid then is given back once', async () => {
    const paymentId = await payAndTell(system, 'paid', 'two');
    await eventually('it is given back', async () => (await system.refundsAtGateway(paymentId)).length > 0);
    await system.settled();
    expect(await system.refundsAtGateway(paymentId)).toMatchObject([{ amount: 10_000, status: 'succeeded' }]);
    await system.orderIs('paid', { status: 'paid', paid_payment_id: 'pay_paid_one', amount_refunded: 0 });
  });

  it('and the books hold every promise', async () => {
    await system.settled();
    await system.expectCleanAudit();
  });
});
