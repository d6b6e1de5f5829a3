import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { expiryStartOptions, reconcileStartOptions } from '../../src/relay/start-options.ts';
import { SCENARIOS } from '../replay/scenarios.ts';
import { eventually } from '../support/eventually.ts';
import { openPaymentLab, type PaymentLab } from '../support/payment-lab.ts';
import { seedOrder } from '../support/seed.ts';

let lab: PaymentLab;
beforeAll(async () => {
  lab = await openPaymentLab({ relay: false });
});
afterAll(() => lab.close());
afterEach(() => lab.control('faults', {}, 'PUT'));

const run = (workflowId: string) => lab.client.workflow.getHandle(workflowId);
const statusOf = async (workflowId: string) => (await run(workflowId).describe()).status.name;

describe('a signal that no handler knows', () => {
  it.each([
    'process-payment.waits-for-the-gateway',
    'refund-payment.waits-for-a-person',
    'pay-out-seller.waits-for-the-gateway',
    'charge-saved-card.waits-for-the-gateway',
    'top-up-wallet.waits-for-the-gateway',
    'expire-order.waits-for-its-time',
  ])('is put before a person by its name, and the run goes on (%s)', async (scenario) => {
    const { workflowId } = await SCENARIOS[scenario]!(lab, `signal_${scenario.replaceAll(/[^a-z]/g, '_')}`);
    for (const secret of ['someone@example.com', 'again']) await run(workflowId).signal('payment_succeeded', secret);
    const letter = await eventually('a person is asked', () =>
      lab.row<{ last_error: string }>(
        `select kind, status, last_error from dead_letters where id like 'event_unreadable:signal:%' and last_error like $1`,
        `Workflow ${workflowId} %`,
      ),
    );
    expect(letter).toMatchObject({ kind: 'event_unreadable', status: 'open' });
    expect(letter.last_error).toContain('was sent the signal payment_succeeded, which it does not know');
    expect(letter.last_error).not.toContain('someone');
    expect(await statusOf(workflowId)).toBe('RUNNING');
  });

  it('is heard also where it starts the run that ends at once', async () => {
    await seedOrder(lab.db.pool, { id: 'ord_without_expiry' });
    const options = expiryStartOptions('ord_without_expiry');
    await lab.client.workflow.signalWithStart('expireOrder', { ...options, signal: 'expire_now', signalArgs: [] });
    expect(await run(options.workflowId).result()).toBe('pending_payment');
    expect(
      await lab.row(
        `select status from dead_letters where last_error like 'Workflow order:ord_without_expiry %expire_now%'`,
      ),
    ).toEqual({ status: 'open' });
  });
});

describe('a run that is cancelled', () => {
  it('while the extra refund is pending carries the refund through all the same', async () => {
    const key = 'cancelled_pending';
    const { workflowId } = await SCENARIOS['refund-payment.waits-for-the-gateway']!(lab, key);
    await run(workflowId).cancel();
    const { id } = (await lab.row<{ id: string }>(
      `select gateway_refund_id as id from refunds where payment_id = 'pay_${key}'`,
    ))!;
    await lab.control(`refunds/${id}/succeed`, { deliver: false });
    await run(workflowId).signal('refundChanged');
    expect(await run(workflowId).result()).toBe('succeeded');
    expect(await lab.refundsAtGateway(`pay_${key}`)).toMatchObject([{ amount: 10_000, status: 'succeeded' }]);
  });

  it('before the extra refund was sent sends it all the same, once', async () => {
    const key = 'cancelled_unsent';
    const { workflowId } = await SCENARIOS['refund-payment.waits-for-a-person']!(lab, key);
    await run(workflowId).cancel();
    await lab.control('faults', {}, 'PUT');
    const decision = { action: 'retry', note: 'the account was filled up', by: 'back-office' };
    await run(workflowId).executeUpdate('decide', { args: [decision] });
    expect(await run(workflowId).result()).toBe('succeeded');
    expect(await lab.refundsAtGateway(`pay_${key}`)).toMatchObject([{ amount: 10_000, status: 'succeeded' }]);
  });

  it.each(['process-payment.unread-as-gateway-is-down', 'process-payment.waits-for-the-gateway'])(
    'in the middle of a payment loses nothing: its event is still there, and the next run pays (%s)',
    async (scenario) => {
      const key = `cancelled_${scenario.replaceAll(/[^a-z]/g, '_')}`;
      const { workflowId } = await SCENARIOS[scenario]!(lab, key);
      await run(workflowId).cancel();
      await eventually('it has ended', async () => (await statusOf(workflowId)) === 'CANCELLED');
      expect(await lab.row('select state from webhook_events where payment_id = $1', `pay_${key}`)).toEqual({
        state: 'pending',
      });
      await lab.control('faults', {}, 'PUT');
      if (scenario.endsWith('waits-for-the-gateway'))
        await lab.control(`payments/pay_${key}/capture`, { deliver: false });
      await lab.db.pool.query(`update webhook_events set received_at = now() - interval '2 minutes'`);
      await lab.client.workflow.execute('reconcile', reconcileStartOptions('sim'));
      await eventually('the order is paid', () =>
        lab.row(`select 1 from orders where id = $1 and status = 'paid'`, `ord_${key}`),
      );
      expect(await lab.row('select state from webhook_events where payment_id = $1', `pay_${key}`)).toEqual({
        state: 'processed',
      });
    },
  );
});
