import { expect } from 'vitest';
import { findMissingStartOptions } from '../../../../src/relay/start-options.ts';
import { paymentEvent } from '../../system.ts';
import type { CrashScenario } from '../crash-scenario.ts';
import type { CrashWorld } from '../crash-world.ts';
import {
  AMOUNT,
  captured,
  expectPaidOnce,
  expectProcessed,
  order,
  orderId,
  paidOrder,
  paymentId,
} from './world-before.ts';

const eventId = (tag: string): string => `evt_${tag}`;
const extra = (tag: string): string => `${paymentId(tag)}_b`;

async function expectRefundedOnce(
  world: CrashWorld,
  payment: string,
  amount: number,
  reference: string,
): Promise<void> {
  const { refunds } = await world.atGateway();
  expect(refunds.filter(({ payment_id }) => payment_id === payment)).toMatchObject([
    { amount, reference, status: 'succeeded' },
  ]);
}

const anOrderIsPaid = {
  prepare: async (world, tag) => {
    await order(world, tag);
    await captured(world, tag);
  },
  act: (world, tag, door) => world.deliver(door, eventId(tag), paymentEvent(paymentId(tag), orderId(tag))),
  check: async (world, tag, heard) => {
    // A gateway that was not answered sends it again.
    if (heard === null) await world.deliver(null, eventId(tag), paymentEvent(paymentId(tag), orderId(tag)));
    await expectPaidOnce(world, tag);
    await expectProcessed(world, eventId(tag));
  },
} satisfies Omit<CrashScenario, 'victim'>;

/** What the workflow of a payment does, and the door through which it hears of it. */
export const PAYMENT_SCENARIOS: Readonly<Record<string, CrashScenario>> = {
  'webhook receiver': { victim: 'server', ...anOrderIsPaid },
  'processPayment pays an order': { victim: 'worker', ...anOrderIsPaid },
  'processPayment finds an extra capture, refundPayment gives it back': {
    victim: 'worker',
    async prepare(world, tag) {
      await paidOrder(world, tag);
      await captured(world, tag, { payment_id: extra(tag) });
    },
    act: (world, tag) => world.deliver(null, eventId(tag), paymentEvent(extra(tag), orderId(tag))),
    async check(world, tag) {
      await expectProcessed(world, eventId(tag));
      await expectRefundedOnce(world, extra(tag), AMOUNT, `refund:extra_capture:sim:${extra(tag)}`);
      await expectPaidOnce(world, tag);
      const { body } = await world.api.get(`/v1/orders/${orderId(tag)}`);
      expect(body).toMatchObject({ amount_refunded: 0, refunds: [{ kind: 'extra_capture', status: 'succeeded' }] });
    },
  },
  'processPayment hears of a refund': {
    victim: 'worker',
    async prepare(world, tag) {
      await paidOrder(world, tag);
      const refund = { refund_id: `re_${tag}`, payment_id: paymentId(tag), amount: 4_000, deliver: false };
      await world.control('POST', '/refunds', refund);
    },
    act: (world, tag) => {
      const about = { type: 'refund.succeeded', refund_id: `re_${tag}`, amount: 4_000 };
      return world.deliver(null, eventId(tag), paymentEvent(paymentId(tag), orderId(tag), about));
    },
    async check(world, tag) {
      await expectProcessed(world, eventId(tag));
      await expectPaidOnce(world, tag);
      const { body } = await world.api.get(`/v1/orders/${orderId(tag)}`);
      expect(body).toMatchObject({
        amount_refunded: 4_000,
        refunds: [{ kind: 'gateway', gateway_refund_id: `re_${tag}` }],
      });
    },
  },
  'findMissingWebhooks pays an order whose webhook never comes': {
    victim: 'worker',
    async prepare(world, tag) {
      await order(world, tag);
      await captured(world, tag);
    },
    async act(world, tag) {
      const { type, data } = paymentEvent(paymentId(tag), orderId(tag));
      // Older than what is left to its webhook.
      const timestamp = new Date(Date.now() - 10 * 60_000).toISOString();
      await world.control('POST', '/events', { id: eventId(tag), type, timestamp, data, deliver: false });
      await find(world);
    },
    async check(world, tag) {
      // The run that was open may have listed it before it was there.
      const { status } = await world.api.get(`/v1/events/sim/${eventId(tag)}`);
      if (status === 404) await find(world);
      await expectPaidOnce(world, tag);
      await expectProcessed(world, eventId(tag));
    },
  },
  expireOrder: {
    victim: 'worker',
    async act(world, tag) {
      await order(world, tag, { expires_at: new Date(Date.now() + 1_500).toISOString() });
      // What was paid before goes back with it, and what is captured after it goes back as well.
      await captured(world, tag, { amount: 4_000 });
      await world.deliver(null, eventId(tag), paymentEvent(paymentId(tag), orderId(tag), { amount: 4_000 }));
    },
    async check(world, tag) {
      const { body } = await world.api.get(`/v1/orders/${orderId(tag)}`);
      expect(body).toMatchObject({ status: 'expired', amount_paid: body.amount_refunded });
      await expectRefundedOnce(world, paymentId(tag), 4_000, `refund:late_capture:sim:${paymentId(tag)}`);
      expect(body.refunds).toMatchObject([{ kind: 'late_capture', status: 'succeeded', amount: 4_000 }]);
    },
  },
  'POST /v1/payments/…/confirm': {
    victim: 'server',
    async prepare(world, tag) {
      await order(world, tag);
      await captured(world, tag);
    },
    act: (world, tag, door) => ask(world, tag, door),
    async check(world, tag) {
      const { body } = await ask(world, tag, null);
      expect(['marked_paid', 'already_paid_same_payment']).toContain(body.outcome);
      await expectPaidOnce(world, tag);
    },
  },
};

async function find(world: CrashWorld): Promise<void> {
  await world.temporal.client.workflow.start('findMissingWebhooks', findMissingStartOptions('sim'));
}

function ask(world: CrashWorld, tag: string, door: Parameters<CrashScenario['act']>[2]) {
  return (door === null ? world.api : world.apiAt(door)).post(`/v1/payments/sim/${paymentId(tag)}/confirm`);
}
