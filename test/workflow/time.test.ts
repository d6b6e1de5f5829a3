import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { inTransaction } from '../../src/database/pool.ts';
import { reserveAuthorizationMove } from '../../src/database/reserve-authorization-move.ts';
import { expiryStartOptions, paymentStartOptions } from '../../src/relay/start-options.ts';
import { openPaymentLab, type PaymentLab } from '../support/payment-lab.ts';
import { seedEvent, seedOrder } from '../support/seed.ts';
import { createTimeSkippingEnvironment, timeSkippingProgram } from '../support/temporal.ts';

const program = await timeSkippingProgram();
const HOUR = 3_600_000;

describe.skipIf(program === null)('time', () => {
  let env: TestWorkflowEnvironment;
  let lab: PaymentLab;

  // A clock of its own for each test: it only goes forward.
  beforeEach(async () => {
    env = await createTimeSkippingEnvironment(program ?? '');
    lab = await openPaymentLab({
      temporal: {
        address: env.address,
        namespace: env.namespace ?? 'default',
        client: env.client,
        close: () => env.teardown(),
      },
      relay: false,
    });
  });
  afterEach(() => lab.close());

  it('a payment whose order never comes goes before a human after a day', async () => {
    await lab.pay('pay_1', 'ord_9');
    await seedEvent(lab.db.pool, { id: 'evt_1', paymentId: 'pay_1', orderId: 'ord_9' });
    const outcome: unknown = await env.client.workflow.execute(
      'processPayment',
      paymentStartOptions('sim', 'pay_1', 'ord_9'),
    );
    expect(outcome).toBe('held_for_review');
    expect(await lab.row('select kind, status, amount, order_id from dead_letters')).toEqual({
      kind: 'unmatched_payment',
      status: 'open',
      amount: 10_000n,
      order_id: 'ord_9',
    });
    expect(await lab.row('select state from webhook_events')).toEqual({ state: 'held' });
  });

  it('an event that the gateway never confirms goes before a human, and pays nothing', async () => {
    await seedOrder(lab.db.pool, { id: 'ord_1' });
    await seedEvent(lab.db.pool, { id: 'evt_1', paymentId: 'pay_unknown', orderId: 'ord_1' });
    await env.client.workflow.execute('processPayment', paymentStartOptions('sim', 'pay_unknown', 'ord_1'));
    expect(await lab.row('select state, attempts from webhook_events')).toEqual({ state: 'held', attempts: 5 });
    expect(await lab.row('select kind from dead_letters')).toEqual({ kind: 'unknown_at_gateway' });
    expect(await lab.row('select status from orders')).toEqual({ status: 'pending_payment' });
  });

  it('an order expires at its time, and a capture that comes after is given back whole', async () => {
    const expiresAt = new Date(Date.now() + 2 * HOUR);
    await seedOrder(lab.db.pool, { id: 'ord_1', expiresAt });
    expect(await env.client.workflow.execute('expireOrder', expiryStartOptions('ord_1'))).toBe('expired');
    await lab.pay('pay_1', 'ord_1');
    await seedEvent(lab.db.pool, { id: 'evt_1', paymentId: 'pay_1', orderId: 'ord_1' });
    expect(await env.client.workflow.execute('processPayment', paymentStartOptions('sim', 'pay_1', 'ord_1'))).toBe(
      'not_payable',
    );
    expect(
      await env.client.workflow.execute('refundPayment', {
        ...paymentStartOptions('sim', 'pay_1', 'ord_1'),
        workflowId: 'refund:late_capture:sim:pay_1',
      }),
    ).toBe('succeeded');
    expect(await lab.refundsAtGateway('pay_1')).toMatchObject([{ amount: 10_000, status: 'succeeded' }]);
  });

  it('a refund that meets a gateway down for long waits, is seen by a human, and is carried out once it is back', async () => {
    await seedOrder(lab.db.pool, { id: 'ord_1' });
    for (const n of [1, 2]) {
      await lab.pay(`pay_${n}`, 'ord_1');
      await seedEvent(lab.db.pool, { id: `evt_${n}`, paymentId: `pay_${n}`, orderId: 'ord_1' });
      await env.client.workflow.execute('processPayment', paymentStartOptions('sim', `pay_${n}`, 'ord_1'));
    }
    await lab.control('faults', { error_before: { chance: 1, calls: ['refunds'], status: 503 } }, 'PUT');
    const handle = await env.client.workflow.start('refundPayment', {
      ...paymentStartOptions('sim', 'pay_2', 'ord_1'),
      workflowId: 'refund:extra_capture:sim:pay_2',
    });
    // The clock stands still while nobody waits for a result: an hour passes now, with the gateway down.
    await env.sleep(HOUR / 2);
    expect(await lab.row('select status from refunds')).toEqual({ status: 'unknown' });
    expect(await lab.row('select kind, status, extra_capture from dead_letters')).toEqual({
      kind: 'outcome_unknown',
      status: 'open',
      extra_capture: true,
    });
    expect((await handle.describe()).status.name).toBe('RUNNING');
    await lab.control('faults', {}, 'PUT');
    expect(await handle.result()).toBe('succeeded');
    expect(await lab.refundsAtGateway('pay_2')).toHaveLength(1);
    expect(await lab.row('select status from dead_letters')).toEqual({ status: 'recovered' });
  });

  it.each([
    ['capture', 'capturePayment', 'captured', 'paid'],
    ['void', 'voidPayment', 'expired', 'failed_final'],
  ] as const)(
    'a %s that nobody can tell the outcome of is asked about again after 5 min, 1 h, then daily, until it is known',
    async (kind, workflow, payment, order) => {
      await seedOrder(lab.db.pool, { id: 'ord_1' });
      await lab.pay('pay_1', 'ord_1', { status: 'authorized' });
      await seedEvent(lab.db.pool, { id: 'evt_1', paymentId: 'pay_1', orderId: 'ord_1', type: 'payment.authorized' });
      await env.client.workflow.execute('processPayment', paymentStartOptions('sim', 'pay_1', 'ord_1'));
      await inTransaction(lab.db.pool, (tx) =>
        reserveAuthorizationMove(tx, { kind, source: 'sim', paymentId: 'pay_1', amount: null, requestedBy: 'shop' }),
      );
      const calls = async () => {
        const state = (await (await fetch(`${lab.simulator.url}/sim/state`)).json()) as {
          calls: Record<string, number>;
        };
        return state.calls[`POST /payments/:id/${kind}`] ?? 0;
      };
      await lab.control('faults', { error_before: { chance: 1, calls: ['payments.writes'], status: 503 } }, 'PUT');
      const handle = await env.client.workflow.start(workflow, {
        ...paymentStartOptions('sim', 'pay_1', 'ord_1'),
        workflowId: `${kind}:sim:pay_1`,
      });
      // The tries of one policy take some minutes; between them nobody asks.
      const asked: boolean[] = [];
      let before = 0;
      for (const hours of [0.1, 0.4, 1.5, 18, 10, 14, 10]) {
        await env.sleep(hours * HOUR);
        const now = await calls();
        asked.push(now > before);
        before = now;
      }
      expect(asked).toEqual([true, true, true, false, true, false, true]);
      expect(await lab.row(`select status from ${kind}s`)).toEqual({ status: 'unknown' });
      expect(await lab.row('select kind, status from dead_letters')).toEqual({
        kind: 'outcome_unknown',
        status: 'open',
      });
      expect((await handle.describe()).status.name).toBe('RUNNING');
      await lab.control('faults', {}, 'PUT');
      expect(await handle.result()).toBe('succeeded');
      expect(await calls()).toBe(before + 1);
      expect(
        await lab.row('select p.status, o.status as "order" from payments p join orders o on o.id = p.order_id'),
      ).toEqual({
        ...{ status: payment, order },
      });
      expect(await lab.row('select status from dead_letters')).toEqual({ status: 'recovered' });
    },
  );
});
