import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { reconcileStartOptions } from '../../src/relay/start-options.ts';
import { payoutMessages, refundMessages, type Reconciliation } from '../../src/workflows/messages.ts';
import { SCENARIOS } from '../replay/scenarios.ts';
import { eventually } from '../support/eventually.ts';
import { seedOrder } from '../support/seed.ts';
import { openPaymentLab, type PaymentLab } from '../support/payment-lab.ts';

let lab: PaymentLab;
beforeAll(async () => {
  // Nothing but the reconciliation may start a run.
  lab = await openPaymentLab({ relay: false });
});
afterAll(() => lab.close());
afterEach(() => lab.control('faults', {}, 'PUT'));

/** Makes everything old enough to be missed. */
async function timePasses(): Promise<void> {
  for (const table of ['payments', 'refunds', 'payouts', 'charges', 'top_ups', 'checkouts', 'orders'])
    await lab.db.pool.query(
      `update ${table} set created_at = created_at - interval '2 minutes', updated_at = updated_at - interval '2 minutes'`,
    );
  await lab.db.pool.query(`update webhook_events set received_at = received_at - interval '2 minutes'`);
  await lab.db.pool.query(`update orders set expires_at = expires_at - interval '23 hours 59 minutes 50 seconds'`);
}

async function reconcile(): Promise<Reconciliation> {
  return lab.client.workflow.execute('reconcile', reconcileStartOptions('sim')) as Promise<Reconciliation>;
}

const statusOf = async (id: string) => (await lab.client.workflow.getHandle(id).describe()).status.name;

/** A run of each workflow that waits, what it waits for, and where its end can be seen. */
const WAITS: readonly (readonly [
  scenario: string,
  helped: (key: string) => Promise<unknown>,
  over: (key: string) => string,
])[] = [
  [
    'process-payment.waits-for-its-order',
    (key) => seedOrder(lab.db.pool, { id: `ord_${key}` }),
    (key) => `orders where id = 'ord_${key}' and status = 'paid'`,
  ],
  [
    'process-payment.unread-as-gateway-is-down',
    () => lab.control('faults', {}, 'PUT'),
    (key) => `orders where id = 'ord_${key}' and status = 'paid'`,
  ],
  [
    'refund-payment.waits-for-the-gateway',
    async (key) => {
      const { id } = (await lab.row<{ id: string }>(
        `select gateway_refund_id as id from refunds where payment_id = 'pay_${key}'`,
      ))!;
      await lab.control(`refunds/${id}/succeed`, { deliver: false });
    },
    (key) => `refunds where payment_id = 'pay_${key}' and status = 'succeeded'`,
  ],
  [
    'pay-out-seller.waits-for-the-gateway',
    async (key) => {
      const { id } = (await lab.row<{ id: string }>(
        `select gateway_payout_id as id from payouts where seller_id = 'seller_${key}'`,
      ))!;
      await lab.control(`payouts/${id}/pay`, { deliver: false });
    },
    (key) => `payouts where seller_id = 'seller_${key}' and status = 'succeeded'`,
  ],
  [
    'charge-saved-card.waits-for-the-gateway',
    async (key) => {
      const { id } = (await lab.row<{ id: string }>(`select payment_id as id from charges where id = 'ch_${key}'`))!;
      await lab.control(`payments/${id}/capture`, { deliver: false });
    },
    (key) => `charges where id = 'ch_${key}' and status = 'succeeded'`,
  ],
  [
    'top-up-wallet.waits-for-the-gateway',
    async (key) => {
      const { id } = (await lab.row<{ id: string }>(`select payment_id as id from top_ups where id = 'tu_${key}'`))!;
      await lab.control(`payments/${id}/capture`, { deliver: false });
    },
    (key) => `top_ups where id = 'tu_${key}' and status = 'succeeded'`,
  ],
  [
    'start-checkout.out-of-sight',
    () => lab.control('faults', {}, 'PUT'),
    (key) => `checkouts where order_id = 'ord_${key}' and status = 'succeeded'`,
  ],
  [
    'expire-order.waits-for-its-time',
    () => Promise.resolve(),
    (key) => `orders where id = 'ord_${key}' and status = 'expired'`,
  ],
];

const WAKES = { refund: refundMessages, payout: payoutMessages };

describe('a run that was terminated', () => {
  it.each(WAITS)(
    '%s: is started again, and comes to its end',
    async (scenario, helped, over) => {
      const key = `gone_${scenario.replaceAll(/[^a-z]/g, '_')}`;
      const { workflowId } = await SCENARIOS[scenario]!(lab, key);
      await lab.client.workflow.getHandle(workflowId).terminate('by hand');
      await timePasses();
      await helped(key);
      const { examples } = await reconcile();
      expect(examples).toEqual([workflowId]);
      // As its webhook would wake it; by itself it looks after half a minute.
      const [wake] = Object.entries(WAKES)
        .filter(([kind]) => workflowId.startsWith(`${kind}:`))
        .map(([, one]) => one);
      if (wake !== undefined) await lab.client.workflow.getHandle(workflowId).signal(wake.changed);
      await eventually(`there is one of ${over(key)}`, () => lab.row(`select 1 from ${over(key)}`));
      await lab.client.workflow.getHandle(workflowId).result();
      expect(await reconcile()).toMatchObject({ restarted: 0 });
    },
    90_000,
  );
});

describe('a run that is open', () => {
  it('is left alone, and what is over or given up is not looked at', async () => {
    const { workflowId } = await SCENARIOS['refund-payment.waits-for-a-person']!(lab, 'open');
    await timePasses();
    const { runId } = await lab.client.workflow.getHandle(workflowId).describe();
    expect(await reconcile()).toEqual({ checked: 1, restarted: 0, examples: [] });
    expect((await lab.client.workflow.getHandle(workflowId).describe()).runId).toBe(runId);
    await lab.client.workflow.getHandle(workflowId).terminate('by hand');
    await lab.db.pool.query(
      `update dead_letters set status = 'decided', closed_at = now(), decision = '{"action": "give_up"}' where workflow_id = $1`,
      [workflowId],
    );
    expect(await reconcile()).toEqual({ checked: 0, restarted: 0, examples: [] });
    expect(await statusOf(workflowId)).toBe('TERMINATED');
  });
});
