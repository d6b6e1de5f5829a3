import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSystem, paymentEvent, type System } from '../support/system.ts';

let system: System;
beforeAll(async () => {
  system = await openSystem({ servers: 1 });
});
afterAll(() => system.close());

/** An order that is paid, and two refunds of it that are alike: one of ours, one from the gateway's dashboard. */
async function twoRefunds(name: string): Promise<{ ours: { id: string; gatewayId: string }; theirs: string }> {
  const [orderId, paymentId] = [`ord_${name}`, `pay_${name}`];
  await system.order({ id: orderId });
  await system.pay(paymentId, orderId);
  await system.deliver(paymentEvent(paymentId, orderId));
  await system.orderIs(orderId, { status: 'paid' });
  const body = { source: 'sim', payment_id: paymentId, amount: 3_000 };
  const asked = await system.call('POST', '/v1/refunds', { body, key: `key_${name}` });
  expect(asked.status).toBe(201);
  const theirs = `rf_theirs_${name}`;
  await system.control('POST', '/refunds', { refund_id: theirs, payment_id: paymentId, amount: 3_000, deliver: false });
  return { ours: { id: asked.body.id, gatewayId: asked.body.gateway_refund_id }, theirs };
}

function tell(id: string, name: string, refund_id: string, more: object = {}) {
  const data = { payment_id: `pay_${name}`, refund_id, amount: 3_000, currency: 'EUR', status: 'succeeded', ...more };
  return system.deliver({ type: 'refund.succeeded', timestamp: '2026-11-30T12:00:00Z', data }, { id });
}

describe('events of two refunds that are alike', () => {
  it.each([
    ['the later one first', [1, 0]],
    ['the earlier one first', [0, 1]],
    ['each twice, the last one first', [1, 0, 1, 0]],
  ] as const)('find each its own, by the id at the gateway or by our reference: %s', async (how, order) => {
    const name = `alike_${how.length}`;
    const { ours, theirs } = await twoRefunds(name);
    for (const [n, which] of order.entries()) {
      const event = `evt_${name}_${n}`;
      await tell(
        event,
        name,
        [ours.gatewayId, theirs][which] ?? '',
        which === 0 ? { reference: `refund:${ours.id}` } : {},
      );
      await system.eventIs(event, 'processed');
    }
    const { refunds, amount_refunded, consequences } = await system.orderIs(`ord_${name}`, { amount_refunded: 6_000 });
    expect(amount_refunded).toBe(6_000);
    expect(refunds).toHaveLength(2);
    expect(refunds).toContainEqual(
      expect.objectContaining({
        id: ours.id,
        kind: 'requested',
        status: 'succeeded',
        gateway_refund_id: ours.gatewayId,
      }),
    );
    expect(refunds).toContainEqual(
      expect.objectContaining({ kind: 'gateway', status: 'succeeded', gateway_refund_id: theirs }),
    );
    expect(consequences.loyalty.reduce((sum: number, { points }: any) => sum + points, 0)).toBe(40);
    expect(await system.refundsAtGateway(`pay_${name}`)).toHaveLength(2);
  });

  it('of which one fails, touch that one alone', async () => {
    const { ours, theirs } = await twoRefunds('one_fails');
    await tell('evt_theirs', 'one_fails', theirs);
    await system.orderIs('ord_one_fails', { amount_refunded: 6_000 });
    await system.control('POST', `/refunds/${theirs}/fail`, { deliver: false });
    const data = { payment_id: 'pay_one_fails', refund_id: theirs, status: 'failed' };
    await system.deliver({ type: 'refund.failed', timestamp: '2026-11-30T12:00:00Z', data }, { id: 'evt_failed' });
    const { refunds } = await system.orderIs('ord_one_fails', { amount_refunded: 3_000 });
    expect(refunds).toContainEqual(expect.objectContaining({ id: ours.id, status: 'succeeded' }));
    expect(refunds).toContainEqual(expect.objectContaining({ gateway_refund_id: theirs, status: 'failed' }));
  });
});

it('leaves books in which every promise holds', async () => {
  await system.settled();
  await system.expectCleanAudit();
});
