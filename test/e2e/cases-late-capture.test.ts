import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSystem, paymentEvent, type System } from '../support/system.ts';

const ROUNDS = 10;
const names = (prefix: string) => Array.from({ length: ROUNDS }, (_, n) => `${prefix}_${n}`);

const cancel = (system: System, id: string) => system.call('POST', `/v1/orders/${id}/cancel`);

/** Ends an order that nobody has paid, in one of the two ways. */
async function end(system: System, id: string, how: string): Promise<void> {
  if (how === 'cancelled') {
    await system.order({ id });
    expect(await cancel(system, id)).toMatchObject({ status: 200, body: { status: 'cancelled' } });
  } else {
    await system.order({ id, expires_at: new Date(Date.now() + 1_000).toISOString() });
    await system.orderIs(id, { status: 'expired' });
  }
}

/** The same fact again: under its own name, under another one, and from the browser. */
async function repeat(system: System, id: string): Promise<string> {
  await system.deliver(paymentEvent(`pay_${id}`, id), { id: `evt_${id}` });
  await system.deliver(paymentEvent(`pay_${id}`, id), { id: `evt_${id}_again` });
  const { body } = await system.call('POST', `/v1/payments/sim/pay_${id}/confirm`);
  await system.settled();
  return body.outcome as string;
}

describe('by the policy to refund, a capture that comes too late', () => {
  let system: System;
  beforeAll(async () => {
    system = await openSystem();
  });
  afterAll(() => system.close());

  /** Exactly one of: paid, or the whole money on its way back; and the order says which. */
  async function expectOneFate(id: string, ended: string): Promise<'paid' | 'back'> {
    const order = (await system.call('GET', `/v1/orders/${id}`)).body;
    const back = await system.refundsAtGateway(`pay_${id}`);
    if (order.status === 'paid') {
      expect(back).toEqual([]);
      expect(order).toMatchObject({ amount_paid: 10_000, amount_refunded: 0, refunds: [] });
      expect(order.consequences.bookings).toHaveLength(1);
      return 'paid';
    }
    expect(order.status).toBe(ended);
    expect(back).toMatchObject([{ amount: 10_000, status: 'succeeded' }]);
    expect(order.refunds).toMatchObject([{ kind: 'late_capture', amount: 10_000, status: 'succeeded' }]);
    expect(order.consequences.bookings).toEqual([]);
    return 'back';
  }

  it.each(['cancelled', 'expired'])(
    'for an order that was %s is given back whole, once; repeats add nothing',
    async (how) => {
      const id = `ord_${how}`;
      await end(system, id, how);
      await system.pay(`pay_${id}`, id);
      await system.deliver(paymentEvent(`pay_${id}`, id), { id: `evt_${id}` });
      expect(await system.eventIs(`evt_${id}`, 'processed')).toMatchObject({ outcome: 'not_payable' });
      await system.settled();
      expect(await expectOneFate(id, how)).toBe('back');
      expect(await repeat(system, id)).toBe('not_payable');
      expect(await expectOneFate(id, how)).toBe('back');
      expect(await system.call('GET', `/v1/orders/${id}`)).toMatchObject({
        body: { amount_paid: 0, amount_refunded: 0 },
      });
    },
  );

  it('after the bank had asked the customer to confirm, while the shopper cancelled, is given back', async () => {
    await system.order({ id: 'ord_3ds' });
    await system.pay('pay_ord_3ds', 'ord_3ds', { status: 'authorized' });
    await system.deliver(paymentEvent('pay_ord_3ds', 'ord_3ds', { type: 'payment.authorized' }));
    await system.orderIs('ord_3ds', { status: 'payment_pending' });
    expect(await cancel(system, 'ord_3ds')).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    await system.control('POST', '/payments/pay_ord_3ds/capture');
    await expect.poll(async () => (await system.refundsAtGateway('pay_ord_3ds')).length, { timeout: 20_000 }).toBe(1);
    await system.settled();
    expect(await expectOneFate('ord_3ds', 'cancelled')).toBe('back');
  });

  it(`in the instant of the cancellation: the order is paid, or the money goes back (${ROUNDS} rounds)`, async () => {
    const fates = await Promise.all(
      names('ord_instant').map(async (id, n) => {
        await system.order({ id });
        await system.pay(`pay_${id}`, id);
        const deliver = () => system.deliver(paymentEvent(`pay_${id}`, id), { id: `evt_${id}`, server: n % 2 });
        const [cancelled] = await Promise.all([cancel(system, id), deliver()]);
        await system.eventIs(`evt_${id}`, 'processed');
        return { id, cancelled };
      }),
    );
    await system.settled();
    for (const { id, cancelled } of fates) {
      const fate = await expectOneFate(id, 'cancelled');
      // Who was told that the order is cancelled can rely on it.
      expect([cancelled.status, cancelled.body.code]).toEqual(
        fate === 'back' ? [200, undefined] : [409, 'order_not_cancellable'],
      );
    }
  });

  it(`in the instant of the expiry: the order is paid, or the money goes back (${ROUNDS} rounds)`, async () => {
    const at = Date.now() + 3_000;
    const ids = names('ord_expiring');
    await Promise.all(
      ids.map(async (id) => {
        await system.order({ id, expires_at: new Date(at).toISOString() });
        await system.pay(`pay_${id}`, id);
      }),
    );
    // The instant itself is what is tested; the deliveries are spread over the tenths of a second around it.
    await delay(Math.max(0, at - Date.now() - 100));
    await Promise.all(
      ids.map(async (id, n) => {
        await delay(n * 20);
        await system.deliver(paymentEvent(`pay_${id}`, id), { id: `evt_${id}` });
        await system.eventIs(`evt_${id}`, 'processed');
      }),
    );
    await system.settled();
    for (const id of ids) await expectOneFate(id, 'expired');
  });

  it.each(['cancelled', 'expired'])(
    'a part that counted goes back as well when the order is %s, and so does the rest',
    async (how) => {
      const id = `ord_part_${how}`;
      const expiry = how === 'expired' ? { expires_at: new Date(Date.now() + 4_000).toISOString() } : {};
      await system.order({ id, ...expiry });
      await system.pay(`pay_${id}_1`, id, { amount: 4_000 });
      await system.deliver(paymentEvent(`pay_${id}_1`, id, { amount: 4_000 }));
      await system.orderIs(id, { status: 'partially_paid' });
      if (how === 'cancelled') expect((await cancel(system, id)).status).toBe(200);
      await system.orderIs(id, { status: how });
      await system.pay(`pay_${id}_2`, id, { amount: 6_000 });
      await system.deliver(paymentEvent(`pay_${id}_2`, id, { amount: 6_000 }), { id: `evt_${id}_2` });
      await system.eventIs(`evt_${id}_2`, 'processed');
      await system.settled();
      expect(await system.refundsAtGateway(`pay_${id}_1`)).toMatchObject([{ amount: 4_000, status: 'succeeded' }]);
      expect(await system.refundsAtGateway(`pay_${id}_2`)).toMatchObject([{ amount: 6_000, status: 'succeeded' }]);
      await system.orderIs(id, { status: how, amount_paid: 4_000, amount_refunded: 4_000 });
    },
  );

  it('an order that is paid neither expires nor is cancelled', async () => {
    const at = Date.now() + 2_500;
    await system.order({ id: 'ord_paid', expires_at: new Date(at).toISOString() });
    await system.pay('pay_ord_paid', 'ord_paid');
    await system.deliver(paymentEvent('pay_ord_paid', 'ord_paid'));
    await system.orderIs('ord_paid', { status: 'paid' });
    expect(await cancel(system, 'ord_paid')).toMatchObject({ status: 409, body: { code: 'order_not_cancellable' } });
    const expiry = system.temporal.client.workflow.getHandle('order:ord_paid');
    expect(await expiry.result()).toBe('paid');
    expect(await expectOneFate('ord_paid', 'expired')).toBe('paid');
  });

  it('leaves books in which every promise holds', async () => {
    await system.settled();
    await system.expectCleanAudit();
  });
});

describe('by the policy to review, a capture that comes too late', () => {
  let system: System;
  beforeAll(async () => {
    system = await openSystem({ policies: { late_capture: 'review' }, servers: 1 });
  });
  afterAll(() => system.close());

  it.each(['cancelled', 'expired'])(
    'for an order that was %s is kept and put before a human; repeats add nothing',
    async (how) => {
      const id = `ord_${how}`;
      await end(system, id, how);
      await system.pay(`pay_${id}`, id);
      await system.deliver(paymentEvent(`pay_${id}`, id), { id: `evt_${id}` });
      await system.eventIs(`evt_${id}`, 'held');
      expect(await repeat(system, id)).toBe('held_for_review');
      await system.eventIs(`evt_${id}_again`, 'held');
      const { data } = (await system.call('GET', '/v1/dead-letters?limit=200')).body;
      const letters = data.filter(({ payment_id }: any) => payment_id === `pay_${id}`);
      expect(letters).toMatchObject([{ kind: 'late_capture', order_id: id, amount: 10_000, currency: 'EUR' }]);
      expect(letters[0].choices.toSorted()).toEqual(['accept', 'give_up', 'refund']);
      await system.orderIs(id, { status: how, amount_paid: 0, refunds: [] });
      expect(await system.refundsAtGateway(`pay_${id}`)).toEqual([]);
    },
  );

  it('a part that counted is put before a human when its order is cancelled', async () => {
    await system.order({ id: 'ord_part' });
    await system.pay('pay_part', 'ord_part', { amount: 4_000 });
    await system.deliver(paymentEvent('pay_part', 'ord_part', { amount: 4_000 }));
    await system.orderIs('ord_part', { status: 'partially_paid' });
    expect((await cancel(system, 'ord_part')).status).toBe(200);
    expect(
      await system.count(`dead_letters where kind = 'late_capture' and payment_id = 'pay_part' and amount = 4000`),
    ).toBe(1);
    expect(await system.refundsAtGateway('pay_part')).toEqual([]);
  });

  it('leaves books in which every promise holds', async () => {
    await system.settled();
    await system.expectCleanAudit();
  });
});
