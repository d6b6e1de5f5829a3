import { WithStartWorkflowOperation } from '@temporalio/client';
import { inTransaction } from '../../src/database/pool.ts';
import { reserveAuthorizationMove } from '../../src/database/reserve-authorization-move.ts';
import { reserveCharge } from '../../src/database/reserve-charge.ts';
import { reserveCheckout } from '../../src/database/reserve-checkout.ts';
import { reservePayout } from '../../src/database/reserve-payout.ts';
import { reserveTopUp } from '../../src/database/reserve-top-up.ts';
import type { AlertChannel } from '../../src/notify/alerts/alert-channel.ts';
import { DeliveryError } from '../../src/notify/delivery-error.ts';
import { handOver } from '../../src/relay/hand-over.ts';
import {
  authorizationMoveStartOptions,
  alertsStartOptions,
  chargeStartOptions,
  checkoutStartOptions,
  expiryStartOptions,
  paymentStartOptions,
  payoutStartOptions,
  reconcileStartOptions,
  refundStartOptions,
  topUpStartOptions,
} from '../../src/relay/start-options.ts';
import {
  alertsChangedSignal,
  confirmPaymentUpdate,
  decideUpdate,
  paymentStateQuery,
  refundMessages,
  TASK_QUEUE,
} from '../../src/workflows/messages.ts';
import { eventually } from '../support/eventually.ts';
import type { PaymentLab } from '../support/payment-lab.ts';
import { seedEvent, seedOrder } from '../support/seed.ts';
import { DELIVERY_SCENARIOS } from './delivery-scenarios.ts';

/** What happens to one run, up to its end or to where it waits. `key` makes its ids its own. */
export type Scenario = (
  lab: PaymentLab,
  key: string,
) => Promise<{ readonly workflowId: string; readonly waits: boolean }>;

const ended = (workflowId: string) => ({ workflowId, waits: false });
const waiting = (workflowId: string) => ({ workflowId, waits: true });

/** A webhook of the payment `pay_{key}`, stored and handed over as the API does it. */
async function webhook(
  lab: PaymentLab,
  key: string,
  event: { id?: string; type?: string; objectId?: string; orderId?: string } = {},
) {
  const [paymentId, orderId] = [`pay_${key}`, event.orderId ?? `ord_${key}`];
  const id = event.id ?? `evt_${key}`;
  await seedEvent(lab.db.pool, { ...event, id, paymentId, orderId });
  const options = { client: lab.client.workflow, pool: lab.db.pool };
  await handOver(options, { source: 'sim', eventId: id, paymentId, orderId });
  return `payment:sim:${paymentId}`;
}

async function orderAndPayment(lab: PaymentLab, key: string, more: object = {}): Promise<void> {
  await seedOrder(lab.db.pool, { id: `ord_${key}` });
  await lab.pay(`pay_${key}`, `ord_${key}`, more);
}

const resultOf = (lab: PaymentLab, workflowId: string) => lab.client.workflow.getHandle(workflowId).result();

async function paymentWaits(lab: PaymentLab, workflowId: string, on: 'order' | 'gateway'): Promise<void> {
  const handle = lab.client.workflow.getHandle(workflowId);
  await eventually('the payment waits', async () => (await handle.query(paymentStateQuery)).waiting_for === on);
}

const confirm = (lab: PaymentLab, key: string) =>
  lab.client.workflow.executeUpdateWithStart(confirmPaymentUpdate, {
    startWorkflowOperation: new WithStartWorkflowOperation(
      'processPayment',
      paymentStartOptions('sim', `pay_${key}`, `ord_${key}`),
    ),
  });

/** The gateway cannot be asked about payments; the run waits in the activity that goes on trying. */
async function whileGatewayIsDown(lab: PaymentLab, key: string): Promise<string> {
  await orderAndPayment(lab, key);
  await lab.control('faults', { error_before: { calls: ['payments.reads'], status: 503 } }, 'PUT');
  const workflowId = await webhook(lab, key);
  const handle = lab.client.workflow.getHandle(workflowId);
  await eventually(
    'an ordinary activity goes on trying',
    async () => (await handle.describe()).raw.pendingActivities?.length === 1,
  );
  return workflowId;
}

/** An order paid twice, and the refund of the second payment, `pay_{key}`, started under these faults of the gateway. */
async function extraRefund(lab: PaymentLab, key: string, faults: object): Promise<string> {
  const orderId = `ord_${key}`;
  await orderAndPayment(lab, key);
  await lab.pay(`pay_${key}_kept`, orderId);
  await resultOf(lab, await webhook(lab, `${key}_kept`, { orderId }));
  await resultOf(lab, await webhook(lab, key));
  await lab.control('faults', faults, 'PUT');
  const paymentId = `pay_${key}`;
  const options = refundStartOptions({ refundId: `extra_capture:sim:${paymentId}`, source: 'sim', paymentId, orderId });
  await lab.client.workflow.start('refundPayment', options);
  return options.workflowId;
}

async function refundWaits(lab: PaymentLab, workflowId: string, status: string): Promise<void> {
  const handle = lab.client.workflow.getHandle(workflowId);
  await eventually(`the refund is ${status}`, async () => (await handle.query(refundMessages.state)).status === status);
}

const PENDING = { pending: { calls: ['refunds.writes'], complete_ms: null } };
// Each of the ten attempts is told to come back in a second, so that the policy is used up soon.
const BUSY = { rate_limit: { retry_after: 1 } };

/** The gateway completes what it called pending. */
async function completeRefund(lab: PaymentLab, key: string): Promise<string> {
  const row = await eventually('the gateway has the refund', () =>
    lab.row<{ id: string }>(
      'select gateway_refund_id as id from refunds where payment_id = $1 and gateway_refund_id is not null',
      `pay_${key}`,
    ),
  );
  await lab.control(`refunds/${row.id}/succeed`, { deliver: false });
  return row.id;
}

async function startCheckout(lab: PaymentLab, key: string, faults: object): Promise<string> {
  const orderId = `ord_${key}`;
  await seedOrder(lab.db.pool, { id: orderId });
  await inTransaction(lab.db.pool, (tx) => reserveCheckout(tx, { orderId, source: 'sim', returnUrl: null }));
  await lab.control('faults', faults, 'PUT');
  const options = checkoutStartOptions(orderId, 1, 'sim');
  await lab.client.workflow.start('startCheckout', options);
  return options.workflowId;
}

async function startExpiry(lab: PaymentLab, key: string, inMs: number | null): Promise<string> {
  const orderId = `ord_${key}`;
  if (inMs !== null) await seedOrder(lab.db.pool, { id: orderId, expiresAt: new Date(Date.now() + inMs) });
  const options = expiryStartOptions(orderId);
  await lab.client.workflow.start('expireOrder', options);
  return options.workflowId;
}

async function startPayout(lab: PaymentLab, key: string, faults: object): Promise<string> {
  const seller = { mode: 'test', source: 'sim', sellerId: `seller_${key}`, settlementDate: '2026-11-30' } as const;
  const money = { amount: 5_000n, currency: 'EUR', destination: 'acct_1', requestedBy: 'test' };
  const { id } = await inTransaction(lab.db.pool, (tx) => reservePayout(tx, { ...seller, ...money }));
  await lab.control('faults', faults, 'PUT');
  const options = payoutStartOptions(id, 'sim');
  await lab.client.workflow.start('payOutSeller', options);
  return options.workflowId;
}

const CARD = { source: 'sim', customerId: 'cus_1', paymentMethod: 'pm_1', amount: 10_000n, currency: 'EUR' };

async function startCharge(lab: PaymentLab, key: string, faults: object): Promise<string> {
  const orderId = `ord_${key}`;
  await seedOrder(lab.db.pool, { id: orderId });
  const id = `ch_${key}`;
  await inTransaction(lab.db.pool, (tx) => reserveCharge(tx, { ...CARD, id, orderId, requestedBy: 'test' }));
  await lab.control('faults', faults, 'PUT');
  const options = chargeStartOptions(id, 'sim', orderId);
  await lab.client.workflow.start('chargeSavedCard', options);
  return options.workflowId;
}

async function startTopUp(lab: PaymentLab, key: string, faults: object): Promise<string> {
  const id = `tu_${key}`;
  await inTransaction(lab.db.pool, (tx) =>
    reserveTopUp(tx, { ...CARD, id, walletId: `wal_${key}`, requestedBy: 'test' }),
  );
  await lab.control('faults', faults, 'PUT');
  const options = topUpStartOptions(id, 'sim');
  await lab.client.workflow.start('topUpWallet', options);
  return options.workflowId;
}

/** The payment `pay_{key}` is authorised, and is to be captured or voided under these faults of the gateway. */
async function startEnd(lab: PaymentLab, key: string, kind: 'capture' | 'void', faults: object): Promise<string> {
  const payment = { source: 'sim', paymentId: `pay_${key}`, orderId: `ord_${key}` };
  await orderAndPayment(lab, key, { status: 'authorized' });
  await resultOf(lab, await webhook(lab, key, { type: 'payment.authorized' }));
  const request = { ...payment, kind, amount: null, requestedBy: 'test' };
  await inTransaction(lab.db.pool, (tx) => reserveAuthorizationMove(tx, request));
  await lab.control('faults', faults, 'PUT');
  const options = authorizationMoveStartOptions(kind, payment);
  await lab.client.workflow.start(`${kind}Payment`, options);
  return options.workflowId;
}

// A key of ours that may not do it is our own mistake.
const FORBIDDEN = { refuse: { calls: ['payments.writes'], status: 403, code: 'forbidden' } };

async function moveIs(lab: PaymentLab, table: string, key: string, where: string): Promise<void> {
  await eventually(`${table} of ${key}: ${where}`, () =>
    lab.row(`select 1 from ${table} where id like $1 and ${where}`, `%${key}%`),
  );
}

/** Two that take everything, and one that never will. */
export const RECORDED_CHANNELS: readonly AlertChannel[] = [
  { name: 'log', send: () => Promise.resolve() },
  { name: 'slack', send: () => Promise.resolve() },
  { name: 'email', send: () => Promise.reject(new DeliveryError('alerts by email: refused.', { final: true })) },
];

/** A run that tells people of one thing alone: other scenarios' troubles are over. */
async function startAlerts(lab: PaymentLab, key: string, channel: string): Promise<string> {
  await lab.db.pool.query(`update alerts set closed_at = now(), outcome = 'decided' where closed_at is null`);
  await lab.db.pool.query(
    `insert into dead_letters (id, kind, source, last_error) values ($1, 'unmatched_payment', 'sim', 'no')`,
    [key],
  );
  const options = { ...alertsStartOptions(channel), signal: alertsChangedSignal };
  await lab.client.workflow.signalWithStart('alertPeople', options);
  return options.workflowId;
}

const isTold = (lab: PaymentLab, key: string) =>
  eventually('it is told', () =>
    lab.row(
      `select 1 from alert_tellings t join alerts a on a.id = t.alert_id where a.key = 'dead_letter:' || $1::text`,
      key,
    ),
  );

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
  'process-payment.gateway-down': async (lab, key) => waiting(await whileGatewayIsDown(lab, key)),
  'process-payment.gateway-back': async (lab, key) => {
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

const isUnknown = (lab: PaymentLab, key: string) =>
  lab.row(`select 1 from refunds where payment_id = $1 and status = 'unknown'`, `pay_${key}`);
