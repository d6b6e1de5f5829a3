import { expect } from 'vitest';
import { eventually } from '../../eventually.ts';
import type { ApiAnswer } from '../../api-client.ts';
import type { CrashWorld } from '../crash-world.ts';

export const AMOUNT = 10_000;
/** Six processes share two cores with whatever else runs. */
const PATIENCE_MS = 60_000;

export const orderId = (tag: string): string => `ord_${tag}`;
export const paymentId = (tag: string): string => `pay_${tag}`;

/** A booking, two gift cards and a package: every kind of consequence. */
export function orderBody(tag: string, more: object = {}): object {
  return {
    ...{ id: orderId(tag), currency: 'EUR', amount: AMOUNT, customer: { id: 'cus_1' } },
    lines: [
      { id: 'l1', kind: 'booking', amount: 4_000 },
      { id: 'l2', kind: 'gift_card', amount: 4_000, quantity: 2 },
      { id: 'l3', kind: 'package', amount: 2_000 },
    ],
    ...more,
  };
}

export async function order(world: CrashWorld, tag: string, more: object = {}): Promise<void> {
  const made = await world.api.post('/v1/orders', orderBody(tag, more), { 'idempotency-key': `make_${tag}` });
  expect(made.status, made.text).toBe(201);
}

/** A captured payment at the gateway, of which nobody has heard yet. */
export async function captured(world: CrashWorld, tag: string, more: object = {}): Promise<void> {
  const payment = { payment_id: paymentId(tag), order_id: orderId(tag), amount: AMOUNT, currency: 'EUR' };
  await world.control('POST', '/payments', { ...payment, deliver: false, ...more });
}

/** An order that the payment has counted for. */
export async function paidOrder(world: CrashWorld, tag: string, amount = AMOUNT): Promise<void> {
  await order(world, tag);
  await captured(world, tag, { amount });
  await eventually(
    `the payment of ${orderId(tag)} counts`,
    async () => {
      const { body } = await world.api.post(`/v1/payments/sim/${paymentId(tag)}/confirm`);
      return body.order?.amount_paid === amount;
    },
    PATIENCE_MS,
  );
}

/** A request as a careful client makes it: the same, until it is answered. */
export async function insist(ask: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
  return eventually(
    'a request is answered',
    async () => {
      const answer = await ask();
      return answer.status !== 409 && answer.status < 500 && answer;
    },
    PATIENCE_MS,
  );
}

/** Everything that a paid order brings is there, and once. */
export async function expectPaidOnce(world: CrashWorld, tag: string): Promise<void> {
  const { body } = await world.api.get(`/v1/orders/${orderId(tag)}`);
  expect(body).toMatchObject({
    ...{ status: 'paid', amount_paid: AMOUNT, surplus: 0, paid_payment_id: body.payments[0]?.payment_id },
    consequences: {
      bookings: [{ line_id: 'l1', status: 'confirmed' }],
      gift_cards: [{ unit: 1 }, { unit: 2 }],
      packages: [{ line_id: 'l3' }],
    },
  });
  expect(body.consequences.loyalty).toHaveLength(1 + (body.amount_refunded > 0 ? 1 : 0));
  expect(body.consequences.invoices.filter(({ kind }: { kind: string }) => kind === 'invoice')).toHaveLength(1);
}

/** The event was stored once, and acted on. */
export async function expectProcessed(world: CrashWorld, eventId: string): Promise<void> {
  const { body } = await world.api.get(`/v1/events/sim/${eventId}`);
  expect(body).toMatchObject({ state: 'processed' });
}
