import { expect } from 'vitest';
import { paymentEvent } from '../../system.ts';
import type { ApiAnswer } from '../../api-client.ts';
import type { TestProcess } from '../../processes.ts';
import type { CrashScenario } from '../crash-scenario.ts';
import type { CrashWorld } from '../crash-world.ts';
import {
  captured,
  expectPaidOnce,
  expectProcessed,
  insist,
  orderBody,
  orderId,
  paidOrder,
  paymentId,
} from './world-before.ts';

const eventId = (tag: string): string => `evt_${tag}`;
/** The same in every copy of the request. */
const EXPIRES_AT = '2036-01-01T00:00:00Z';

function make(world: CrashWorld, tag: string, door: TestProcess | null): Promise<ApiAnswer> {
  const api = door === null ? world.api : world.apiAt(door);
  return api.post('/v1/orders', orderBody(tag, { expires_at: EXPIRES_AT }), { 'idempotency-key': `key_${tag}` });
}

function cancel(world: CrashWorld, tag: string, door: TestProcess | null): Promise<ApiAnswer> {
  return (door === null ? world.api : world.apiAt(door)).post(`/v1/orders/${orderId(tag)}/cancel`);
}

export const ORDER_SCENARIOS: Readonly<Record<string, CrashScenario>> = {
  'POST /v1/orders': {
    victim: 'server',
    async prepare(world, tag) {
      // Its payment was faster.
      await captured(world, tag);
      await world.deliver(null, eventId(tag), paymentEvent(paymentId(tag), orderId(tag)));
    },
    act: make,
    async check(world, tag, heard) {
      const told = await insist(() => make(world, tag, null));
      expect(told.status, told.text).toBe(201);
      if (heard !== null) expect(told.text).toBe(heard.text);
      expect(told.body).toMatchObject({ status: 'pending_payment', amount_paid: 0 });
      await expectPaidOnce(world, tag);
      await expectProcessed(world, eventId(tag));
    },
  },
  'POST /v1/orders/…/cancel': {
    victim: 'server',
    prepare: (world, tag) => paidOrder(world, tag, 4_000),
    act: cancel,
    async check(world, tag) {
      const told = await insist(() => cancel(world, tag, null));
      expect(told.body).toMatchObject({ status: 'cancelled' });
      const { refunds } = await world.atGateway();
      expect(refunds.filter(({ payment_id }) => payment_id === paymentId(tag))).toMatchObject([
        { amount: 4_000, status: 'succeeded', reference: `refund:late_capture:sim:${paymentId(tag)}` },
      ]);
      const { body } = await world.api.get(`/v1/orders/${orderId(tag)}`);
      expect(body).toMatchObject({ amount_paid: 4_000, amount_refunded: 4_000, refunds: [{ status: 'succeeded' }] });
    },
  },
};
