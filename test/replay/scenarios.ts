import { inTransaction } from '../../src/database/pool.ts';
import { reserveCheckout } from '../../src/database/reserve-checkout.ts';
import { handOver } from '../../src/relay/hand-over.ts';
import { findMissingStartOptions, paymentStartOptions, reconcileStartOptions } from '../../src/relay/start-options.ts';
import { alertsChangedSignal, decideUpdate, TASK_QUEUE } from '../../src/workflows/messages.ts';
import { eventually } from '../support/eventually.ts';
import { seedOrder } from '../support/seed.ts';
import { DELIVERY_SCENARIOS } from './delivery-scenarios.ts';
import {
  type Scenario,
  ended,
  waiting,
  webhook,
  orderAndPayment,
  resultOf,
  paymentWaits,
  confirm,
  whileGatewayIsDown,
  extraRefund,
  refundWaits,
  PENDING,
  BUSY,
  completeRefund,
  startCheckout,
  startExpiry,
  startPayout,
  startCharge,
  startTopUp,
  startEnd,
  FORBIDDEN,
  moveIs,
  startAlerts,
  isTold,
  isUnknown,
} from './scenario-steps.ts';

/** By the name that the history gets. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'process-payment.paid-by-webhook': async (lab, key) => {
    await orderAndPayment(lab, key);
    return ended(await webhook(lab, key));
  },
  'process-payment.nothing-left-to-do': async (lab, key) => {
    await orderAndPayment(lab, key);
    const id = await webhook(lab, key);
    await resultOf(lab, id);
    const event = { source: 'sim', eventId: `evt_${key}`, paymentId: `pay_${key}`, orderId: `ord_${key}` };
    await handOver({ client: lab.client.workflow, pool: lab.db.pool }, event);
    return ended(id);
  },
  'process-payment.paid-by-confirm': async (lab, key) => {
    await orderAndPayment(lab, key);
    await confirm(lab, key);
    return ended(`payment:sim:pay_${key}`);
  },
  'process-payment.started-without-a-signal': async (lab, key) => {
    await orderAndPayment(lab, key);
    const options = paymentStartOptions('sim', `pay_${key}`, `ord_${key}`);
    await lab.client.workflow.start('processPayment', options);
    return ended(options.workflowId);
  },
  'process-payment.waits-for-its-order': async (lab, key) => {
    await lab.pay(`pay_${key}`, `ord_${key}`);
    const id = await webhook(lab, key);
    await paymentWaits(lab, id, 'order');
    return waiting(id);
  },
  'process-payment.woken-for-its-order': async (lab, key) => {
    await lab.pay(`pay_${key}`, `ord_${key}`);
    const id = await webhook(lab, key);
    await paymentWaits(lab, id, 'order');
    await seedOrder(lab.db.pool, { id: `ord_${key}` });
    return ended(await webhook(lab, key, { id: `evt_${key}_again` }));
  },
  'process-payment.waits-for-the-gateway': async (lab, key) => {
    await orderAndPayment(lab, key, { status: 'pending' });
    const id = await webhook(lab, key);
    await paymentWaits(lab, id, 'gateway');
    return waiting(id);
  },
  'process-payment.asked-while-it-waits': async (lab, key) => {
    await orderAndPayment(lab, key, { status: 'pending' });
    const id = await webhook(lab, key);
    await paymentWaits(lab, id, 'gateway');
    await confirm(lab, key);
    return waiting(id);
  },
  'process-payment.looked-again-by-itself': async (lab, key) => {
    await orderAndPayment(lab, key, { status: 'pending' });
    const id = await webhook(lab, key);
    await paymentWaits(lab, id, 'gateway');
    await lab.control(`payments/pay_${key}/capture`, { deliver: false });
    return ended(id);
  },
  'process-payment.unread-as-gateway-is-down': async (lab, key) => waiting(await whileGatewayIsDown(lab, key)),
  'process-payment.unread-until-gateway-is-back': async (lab, key) => {
    const id = await whileGatewayIsDown(lab, key);
    await lab.control('faults', {}, 'PUT');
    return ended(id);
  },
  'process-payment.tells-its-refund': async (lab, key) => {
    const refund = await extraRefund(lab, key, PENDING);
    await refundWaits(lab, refund, 'pending');
    const objectId = await completeRefund(lab, key);
    return ended(await webhook(lab, key, { id: `evt_${key}_refund`, type: 'refund.succeeded', objectId }));
  },
  'process-payment.refunded-elsewhere': async (lab, key) => {
    await orderAndPayment(lab, key);
    await resultOf(lab, await webhook(lab, key));
    const objectId = `rf_${key}`;
    const refund = { payment_id: `pay_${key}`, refund_id: objectId, amount: 10_000, deliver: false };
    await lab.control('refunds', refund);
    return ended(await webhook(lab, key, { id: `evt_${key}_refund`, type: 'refund.succeeded', objectId }));
  },

  'refund-payment.succeeded': async (lab, key) => ended(await extraRefund(lab, key, {})),
  'refund-payment.waits-for-the-gateway': async (lab, key) => {
    const id = await extraRefund(lab, key, PENDING);
    await refundWaits(lab, id, 'pending');
    return waiting(id);
  },
  'refund-payment.told-by-its-payment': async (lab, key) => {
    const id = await extraRefund(lab, key, PENDING);
    await refundWaits(lab, id, 'pending');
    const objectId = await completeRefund(lab, key);
    await webhook(lab, key, { id: `evt_${key}_refund`, type: 'refund.succeeded', objectId });
    return ended(id);
  },
  'refund-payment.looked-again-by-itself': async (lab, key) => {
    const id = await extraRefund(lab, key, PENDING);
    await refundWaits(lab, id, 'pending');
    await completeRefund(lab, key);
    return ended(id);
  },
  'refund-payment.not-stopped-by-a-cancellation': async (lab, key) => {
    const id = await extraRefund(lab, key, PENDING);
    await refundWaits(lab, id, 'pending');
    await lab.client.workflow.getHandle(id).cancel();
    return waiting(id);
  },
  'refund-payment.waits-for-a-person': async (lab, key) => {
    const refuse = { calls: ['refunds.writes'], status: 402, code: 'insufficient_balance' };
    const id = await extraRefund(lab, key, { refuse });
    await refundWaits(lab, id, 'needs_review');
    return waiting(id);
  },
  'refund-payment.out-of-sight': async (lab, key) => {
    const id = await extraRefund(lab, key, BUSY);
    await eventually('the refund is unknown', async () => isUnknown(lab, key), 60_000);
    return waiting(id);
  },

  'expire-order.waits-for-its-time': async (lab, key) => waiting(await startExpiry(lab, key, 86_400_000)),
  'expire-order.expired': async (lab, key) => ended(await startExpiry(lab, key, 1_500)),
  'expire-order.no-such-order': async (lab, key) => ended(await startExpiry(lab, key, null)),

  'refund-payment.decided-by-another-service': async (lab, key) => {
    const refuse = { calls: ['refunds.writes'], status: 402, code: 'insufficient_balance' };
    const id = await extraRefund(lab, key, { refuse });
    await refundWaits(lab, id, 'needs_review');
    await lab.control('faults', {}, 'PUT');
    const decision = { action: 'retry', note: 'the account was filled up', by: 'back-office' } as const;
    await lab.client.workflow.getHandle(id).executeUpdate(decideUpdate, { args: [decision] });
    return ended(id);
  },

  'pay-out-seller.paid': async (lab, key) => ended(await startPayout(lab, key, {})),
  'pay-out-seller.waits-for-the-gateway': async (lab, key) => {
    const id = await startPayout(lab, key, { pending: { calls: ['payouts.writes'], complete_ms: null } });
    await moveIs(lab, 'payouts', key, 'gateway_payout_id is not null');
    return waiting(id);
  },
  'charge-saved-card.succeeded': async (lab, key) => ended(await startCharge(lab, key, {})),
  'charge-saved-card.waits-for-the-gateway': async (lab, key) => {
    const id = await startCharge(lab, key, { pending: { calls: ['charges.writes'], complete_ms: null } });
    await moveIs(lab, 'charges', key, 'payment_id is not null');
    return waiting(id);
  },
  'top-up-wallet.succeeded': async (lab, key) => ended(await startTopUp(lab, key, {})),
  'top-up-wallet.waits-for-the-gateway': async (lab, key) => {
    const id = await startTopUp(lab, key, { pending: { calls: ['charges.writes'], complete_ms: null } });
    await moveIs(lab, 'top_ups', key, 'payment_id is not null');
    return waiting(id);
  },
  'capture-payment.captured': async (lab, key) => ended(await startEnd(lab, key, 'capture', {})),
  'capture-payment.waits-for-a-person': async (lab, key) => {
    const id = await startEnd(lab, key, 'capture', FORBIDDEN);
    await moveIs(lab, 'captures', key, `status = 'needs_review'`);
    return waiting(id);
  },
  'void-payment.voided': async (lab, key) => ended(await startEnd(lab, key, 'void', {})),
  'void-payment.waits-for-a-person': async (lab, key) => {
    const id = await startEnd(lab, key, 'void', FORBIDDEN);
    await moveIs(lab, 'voids', key, `status = 'needs_review'`);
    return waiting(id);
  },
  'reap-idempotency-keys.nothing-to-do': async (lab, key) => {
    const workflowId = `reap-${key}`;
    await lab.client.workflow.start('reapIdempotencyKeys', { workflowId, taskQueue: TASK_QUEUE });
    return ended(workflowId);
  },

  'reconcile.nothing-to-do': async (lab) => {
    const { workflowId } = await lab.client.workflow.start('reconcile', reconcileStartOptions('elsewhere'));
    return ended(workflowId);
  },
  'reconcile.starts-again': async (lab, key) => {
    const orderId = `ord_${key}`;
    await seedOrder(lab.db.pool, { id: orderId });
    await inTransaction(lab.db.pool, (tx) => reserveCheckout(tx, { orderId, source: 'sim', returnUrl: null }));
    await lab.db.pool.query(`update checkouts set created_at = now() - interval '1 hour' where order_id = $1`, [
      orderId,
    ]);
    const { workflowId } = await lab.client.workflow.start('reconcile', reconcileStartOptions('sim'));
    return ended(workflowId);
  },
  'find-missing-webhooks.found': async (lab, key) => {
    await seedOrder(lab.db.pool, { id: `ord_${key}` });
    const data = {
      payment_id: `pay_${key}`,
      order_id: `ord_${key}`,
      status: 'captured',
      amount: 10_000,
      currency: 'EUR',
    };
    await lab.control('events', {
      ...{ id: `evt_${key}`, type: 'payment.captured', data, deliver: false },
      // Older than what is left to its webhook.
      timestamp: new Date(Date.now() - 3_600_000).toISOString(),
    });
    const { workflowId } = await lab.client.workflow.start('findMissingWebhooks', findMissingStartOptions('sim'));
    return ended(workflowId);
  },
  'find-missing-webhooks.not-configured-here': async (lab, key) => {
    const options = findMissingStartOptions(`elsewhere-${key}`);
    const { workflowId } = await lab.client.workflow.start('findMissingWebhooks', options);
    return waiting(workflowId);
  },
  'audit.all-holds': async (lab, key) => {
    const workflowId = `audit-${key}`;
    await lab.client.workflow.start('audit', { workflowId, taskQueue: TASK_QUEUE });
    return ended(workflowId);
  },
  'clean-up.nothing-to-do': async (lab, key) => {
    const workflowId = `clean-up-${key}`;
    await lab.client.workflow.start('cleanUp', { workflowId, taskQueue: TASK_QUEUE });
    return ended(workflowId);
  },
  'process-payment.sent-an-unknown-signal': async (lab, key) => {
    await orderAndPayment(lab, key, { status: 'pending' });
    const id = await webhook(lab, key);
    await paymentWaits(lab, id, 'gateway');
    await lab.client.workflow.getHandle(id).signal('nobodyKnowsThis');
    await eventually('a person is asked', () =>
      lab.row(`select 1 from dead_letters where id like 'event_unreadable:signal:%' and payment_id = $1`, `pay_${key}`),
    );
    return waiting(id);
  },

  'alert-people.told-and-over': async (lab, key) => {
    const id = await startAlerts(lab, key, 'log');
    await isTold(lab, key);
    await lab.db.pool.query(`update dead_letters set status = 'recovered', closed_at = now() where id = $1`, [key]);
    await lab.client.workflow.getHandle(id).signal(alertsChangedSignal);
    return ended(id);
  },
  'alert-people.waits-to-remind': async (lab, key) => {
    const id = await startAlerts(lab, key, 'slack');
    await isTold(lab, key);
    return waiting(id);
  },
  'alert-people.cannot-send': async (lab, key) => {
    const id = await startAlerts(lab, key, 'email');
    await eventually('it has failed', () =>
      lab.row(`select 1 from alert_channels where channel = 'email' and attempts = 1`),
    );
    return waiting(id);
  },

  'start-checkout.prepared': async (lab, key) => ended(await startCheckout(lab, key, {})),
  'start-checkout.refused': async (lab, key) => {
    const refuse = { calls: ['payments.writes'], status: 422, code: 'currency_not_supported' };
    return ended(await startCheckout(lab, key, { refuse }));
  },
  'start-checkout.out-of-sight': async (lab, key) => {
    const id = await startCheckout(lab, key, BUSY);
    const unknown = `select 1 from checkouts where order_id = $1 and status = 'unknown'`;
    await eventually('the checkout is unknown', () => lab.row(unknown, `ord_${key}`), 60_000);
    return waiting(id);
  },

  ...DELIVERY_SCENARIOS,
};
