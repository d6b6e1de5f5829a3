import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { confirmPayment } from '../../src/relay/confirm-payment.ts';
import { paymentStartOptions } from '../../src/relay/start-options.ts';
import { paymentEventSignal, paymentStateQuery } from '../../src/workflows/messages.ts';
import { eventually } from '../support/eventually.ts';
import { openPaymentLab, type PaymentLab } from '../support/payment-lab.ts';
import { seedEvent, seedOrder } from '../support/seed.ts';
import { createTimeSkippingEnvironment, timeSkippingProgram } from '../support/temporal.ts';

const program = await timeSkippingProgram();
const HOUR = 3_600_000;

describe.skipIf(program === null)('a payment that its gateway cannot be asked about', () => {
  let env: TestWorkflowEnvironment;
  let lab: PaymentLab;

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
    await seedOrder(lab.db.pool, { id: 'ord_1' });
    await lab.pay('pay_1', 'ord_1');
    await seedEvent(lab.db.pool, { id: 'evt_1', paymentId: 'pay_1', orderId: 'ord_1' });
    await lab.control('faults', { error_before: { calls: ['payments.reads'], status: 503 } }, 'PUT');
  });
  afterEach(() => lab.close());

  const start = () => env.client.workflow.start('processPayment', paymentStartOptions('sim', 'pay_1', 'ord_1'));

  it('for an hour comes right by itself within minutes, and nobody is asked', async () => {
    const handle = await start();
    await env.sleep(HOUR);
    expect(await lab.row('select state from webhook_events')).toEqual({ state: 'pending' });
    await lab.control('faults', {}, 'PUT');
    await env.sleep(HOUR / 12);
    expect(await lab.row('select state, outcome from webhook_events')).toEqual({
      ...{ state: 'processed', outcome: 'marked_paid' },
    });
    expect(await handle.result()).toBe('marked_paid');
    expect(await lab.row('select from dead_letters')).toBeUndefined();
  });

  it('for a day goes before a person, is answered about at once meanwhile, and comes right within the hour', async () => {
    const handle = await start();
    await env.sleep(24 * HOUR);
    expect(await lab.row('select kind, status from dead_letters')).toEqual({
      ...{ kind: 'unknown_at_gateway', status: 'open' },
    });
    const call = { source: 'sim', paymentId: 'pay_1', orderId: 'ord_1', caller: 'browser' };
    expect(await confirmPayment(env.client.workflow, call)).toBe('pending');
    expect(await handle.query(paymentStateQuery)).toMatchObject({ waiting_for: 'gateway' });
    expect((await handle.describe()).status.name).toBe('RUNNING');
    await lab.control('faults', {}, 'PUT');
    await env.sleep(HOUR);
    expect(await handle.result()).toBe('marked_paid');
    expect(await lab.row('select status from dead_letters')).toEqual({ status: 'recovered' });
    expect(await lab.row('select state from webhook_events')).toEqual({ state: 'processed' });
  });

  it('for as long as it asks for patience is not asked, whoever comes, and everybody is answered at once', async () => {
    await lab.control('faults', { rate_limit: { calls: ['payments.reads'], retry_after: 600 } }, 'PUT');
    const calls = async () => {
      const state = (await (await fetch(`${lab.simulator.url}/sim/state`)).json()) as { calls: Record<string, number> };
      return state.calls['GET /payments/:id'];
    };
    const handle = await start();
    await eventually('it was asked', async () => (await handle.query(paymentStateQuery)).waiting_for === 'gateway');
    await lab.control('faults', {}, 'PUT');
    for (const n of [2, 3]) {
      await seedEvent(lab.db.pool, { id: `evt_${n}`, paymentId: 'pay_1', orderId: 'ord_1' });
      await handle.signal(paymentEventSignal, `evt_${n}`);
      const call = { source: 'sim', paymentId: 'pay_1', orderId: 'ord_1', caller: `browser_${n}` };
      expect(await confirmPayment(env.client.workflow, call)).toBe('pending');
    }
    expect(await calls()).toBe(1);
    await env.sleep('11 minutes');
    expect(await handle.result()).toBe('marked_paid');
    expect(await calls()).toBe(2);
  });
});
