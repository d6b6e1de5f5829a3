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
  refundStartOptions,
  topUpStartOptions,
} from '../../src/relay/start-options.ts';
import {
  alertsChangedSignal,
  confirmPaymentUpdate,
  paymentStateQuery,
  refundMessages,
} from '../../src/workflows/messages.ts';
import { eventually } from '../support/eventually.ts';
import type { PaymentLab } from '../support/payment-lab.ts';
import { seedEvent, seedOrder } from '../support/seed.ts';

/** What happens to one run, up to its end or to where it waits. `key` makes its ids its own. */
export type Scenario = (
  lab: PaymentLab,
  key: string,
) => Promise<{ readonly workflowId: string; readonly waits: boolean }>;

export const ended = (workflowId: string) => ({ workflowId, waits: false });
export const waiting = (workflowId: string) => ({ workflowId, waits: true });

/** A webhook of the payment `pay_{key}`, stored and handed over as the API does it. */
export async function webhook(
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

export async function orderAndPayment(lab: PaymentLab, key: string, more: object = {}): Promise<void> {
  await seedOrder(lab.db.pool, { id: `ord_${key}` });
  await lab.pay(`pay_${key}`, `ord_${key}`, more);
}

export const resultOf = (lab: PaymentLab, workflowId: string) => lab.client.workflow.getHandle(workflowId).result();

export async function paymentWaits(lab: PaymentLab, workflowId: string, on: 'order' | 'gateway'): Promise<void> {
  const handle = lab.client.workflow.getHandle(workflowId);
  await eventually('the payment waits', async () => (await handle.query(paymentStateQuery)).waiting_for === on);
}

export const confirm = (lab: PaymentLab, key: string) =>
  lab.client.workflow.executeUpdateWithStart(confirmPaymentUpdate, {
    startWorkflowOperation: new WithStartWorkflowOperation(
      'processPayment',
      paymentStartOptions('sim', `pay_${key}`, `ord_${key}`),
    ),
  });

/** The gateway cannot be asked about payments; the run waits for its next look. */
export async function whileGatewayIsDown(lab: PaymentLab, key: string): Promise<string> {
  await orderAndPayment(lab, key);
  await lab.control('faults', { error_before: { calls: ['payments.reads'], status: 503 } }, 'PUT');
  const workflowId = await webhook(lab, key);
  await paymentWaits(lab, workflowId, 'gateway');
  return workflowId;
}

/** An order paid twice, and the refund of the second payment, `pay_{key}`, started under these faults of the gateway. */
export async function extraRefund(lab: PaymentLab, key: string, faults: object): Promise<string> {
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

export async function refundWaits(lab: PaymentLab, workflowId: string, status: string): Promise<void> {
  const handle = lab.client.workflow.getHandle(workflowId);
  await eventually(`the refund is ${status}`, async () => (await handle.query(refundMessages.state)).status === status);
}

export const PENDING = { pending: { calls: ['refunds.writes'], complete_ms: null } };
// Each of the ten attempts is told to come back in a second, so that the policy is used up soon.
export const BUSY = { rate_limit: { retry_after: 1 } };

/** The gateway completes what it called pending. */
export async function completeRefund(lab: PaymentLab, key: string): Promise<string> {
  const row = await eventually('the gateway has the refund', () =>
    lab.row<{ id: string }>(
      'select gateway_refund_id as id from refunds where payment_id = $1 and gateway_refund_id is not null',
      `pay_${key}`,
    ),
  );
  await lab.control(`refunds/${row.id}/succeed`, { deliver: false });
  return row.id;
}

export async function startCheckout(lab: PaymentLab, key: string, faults: object): Promise<string> {
  const orderId = `ord_${key}`;
  await seedOrder(lab.db.pool, { id: orderId });
  await inTransaction(lab.db.pool, (tx) => reserveCheckout(tx, { orderId, source: 'sim', returnUrl: null }));
  await lab.control('faults', faults, 'PUT');
  const options = checkoutStartOptions(orderId, 1, 'sim');
  await lab.client.workflow.start('startCheckout', options);
  return options.workflowId;
}

export async function startExpiry(lab: PaymentLab, key: string, inMs: number | null): Promise<string> {
  const orderId = `ord_${key}`;
  if (inMs !== null) await seedOrder(lab.db.pool, { id: orderId, expiresAt: new Date(Date.now() + inMs) });
  const options = expiryStartOptions(orderId);
  await lab.client.workflow.start('expireOrder', options);
  return options.workflowId;
}

export async function startPayout(lab: PaymentLab, key: string, faults: object): Promise<string> {
  const seller = { mode: 'test', source: 'sim', sellerId: `seller_${key}`, settlementDate: '2026-11-30' } as const;
  const money = { amount: 5_000n, currency: 'EUR', destination: 'acct_1', requestedBy: 'test' };
  const { id } = await inTransaction(lab.db.pool, (tx) => reservePayout(tx, { ...seller, ...money }));
  await lab.control('faults', faults, 'PUT');
  const options = payoutStartOptions(id, 'sim');
  await lab.client.workflow.start('payOutSeller', options);
  return options.workflowId;
}

const CARD = { source: 'sim', customerId: 'cus_1', paymentMethod: 'pm_1', amount: 10_000n, currency: 'EUR' };

export async function startCharge(lab: PaymentLab, key: string, faults: object): Promise<string> {
  const orderId = `ord_${key}`;
  await seedOrder(lab.db.pool, { id: orderId });
  const id = `ch_${key}`;
  await inTransaction(lab.db.pool, (tx) => reserveCharge(tx, { ...CARD, id, orderId, requestedBy: 'test' }));
  await lab.control('faults', faults, 'PUT');
  const options = chargeStartOptions(id, 'sim', orderId);
  await lab.client.workflow.start('chargeSavedCard', options);
  return options.workflowId;
}

export async function startTopUp(lab: PaymentLab, key: string, faults: object): Promise<string> {
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
export async function startEnd(
  lab: PaymentLab,
  key: string,
  kind: 'capture' | 'void',
  faults: object,
): Promise<string> {
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
export const FORBIDDEN = { refuse: { calls: ['payments.writes'], status: 403, code: 'forbidden' } };

export async function moveIs(lab: PaymentLab, table: string, key: string, where: string): Promise<void> {
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
export async function startAlerts(lab: PaymentLab, key: string, channel: string): Promise<string> {
  await lab.db.pool.query(`update alerts set closed_at = now(), outcome = 'decided' where closed_at is null`);
  await lab.db.pool.query(
    `insert into dead_letters (id, kind, source, last_error) values ($1, 'unmatched_payment', 'sim', 'no')`,
    [key],
  );
  const options = { ...alertsStartOptions(channel), signal: alertsChangedSignal };
  await lab.client.workflow.signalWithStart('alertPeople', options);
  return options.workflowId;
}

export const isTold = (lab: PaymentLab, key: string) =>
  eventually('it is told', () =>
    lab.row(
      `select 1 from alert_tellings t join alerts a on a.id = t.alert_id where a.key = 'dead_letter:' || $1::text`,
      key,
    ),
  );
export const isUnknown = (lab: PaymentLab, key: string) =>
  lab.row(`select 1 from refunds where payment_id = $1 and status = 'unknown'`, `pay_${key}`);
