import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSystem, paymentEvent, type System } from '../support/system.ts';
import { eventually } from '../support/eventually.ts';

let system: System;
beforeAll(async () => {
  // So short that the waiting ends within a test, so long that an order can still come in time.
  system = await openSystem({ policies: { order_wait: '4s' } });
});
afterAll(() => system.close());

async function waits(paymentId: string): Promise<void> {
  await eventually(`${paymentId} waits for its order`, () =>
    system.row(`select 1 as yes from payments where payment_id = $1 and waiting_for = 'order'`, paymentId),
  );
}

describe('a webhook that is quicker than its order', () => {
  it('is answered, waits, and is matched when the order appears', async () => {
    await system.pay('pay_early', 'ord_early');
    expect((await system.deliver(paymentEvent('pay_early', 'ord_early'), { id: 'evt_early' })).status).toBe(200);
    await waits('pay_early');
    expect(await system.call('GET', '/v1/orders/ord_early')).toMatchObject({ status: 404 });
    const event = (await system.call('GET', '/v1/events/sim/evt_early')).body;
    expect(event).toMatchObject({ state: 'pending', processed_at: null });
    expect(event.last_error).toBeTruthy();
    const payment = (await system.call('GET', '/v1/payments/sim/pay_early')).body;
    expect(payment).toMatchObject({ status: 'captured', counted: false, order_id: 'ord_early' });
    await system.order({ id: 'ord_early' });
    await system.orderIs('ord_early', { status: 'paid', paid_payment_id: 'pay_early' });
    expect(await system.eventIs('evt_early', 'processed')).toMatchObject({ outcome: 'marked_paid' });
  });

  it('with its refund, which came before it: refunded, with no consequence left standing', async () => {
    await system.pay('pay_gone', 'ord_gone');
    const refund = { refund_id: 'rf_gone', payment_id: 'pay_gone', amount: 10_000, deliver: false };
    await system.control('POST', '/refunds', refund);
    const data = { ...refund, order_id: 'ord_gone', status: 'succeeded', currency: 'EUR' };
    const gone = { type: 'refund.succeeded', timestamp: new Date().toISOString(), data };
    await system.deliver(gone, { id: 'evt_gone_refund' });
    await waits('pay_gone');
    await system.deliver(paymentEvent('pay_gone', 'ord_gone'), { id: 'evt_gone' });
    await system.order({ id: 'ord_gone' });
    const order = await system.orderIs('ord_gone', { amount_paid: 10_000, amount_refunded: 10_000 });
    expect(order.consequences.bookings).toEqual([{ line_id: 'l1', status: 'cancelled' }]);
    expect(order.consequences.loyalty.reduce((sum: number, { points }: any) => sum + Number(points), 0)).toBe(0);
    await system.eventIs('evt_gone_refund', 'processed');
    await system.eventIs('evt_gone', 'processed');
  });

  it('one of several for the order: one is kept and the others are given back', async () => {
    for (const n of [1, 2, 3]) {
      await system.pay(`pay_many_${n}`, 'ord_many');
      await system.deliver(paymentEvent(`pay_many_${n}`, 'ord_many'));
    }
    for (const n of [1, 2, 3]) await waits(`pay_many_${n}`);
    await system.order({ id: 'ord_many' });
    await system.orderIs('ord_many', { status: 'paid', amount_paid: 10_000 });
    await system.settled();
    const refunds = await Promise.all([1, 2, 3].map((n) => system.refundsAtGateway(`pay_many_${n}`)));
    expect(refunds.map((found) => found.length).toSorted((a, b) => a - b)).toEqual([0, 1, 1]);
  });

  it('told by the browser alone: the payment is known, and counts when the order appears', async () => {
    await system.pay('pay_callback', 'ord_callback');
    const early = await system.call('POST', '/v1/payments/sim/pay_callback/confirm');
    expect(early).toMatchObject({ status: 200, body: { order: null } });
    await system.order({ id: 'ord_callback' });
    await system.orderIs('ord_callback', { status: 'paid', paid_payment_id: 'pay_callback' });
  });

  it('about a payment that is still pending: the order is under way from its first moment', async () => {
    await system.pay('pay_open', 'ord_open', { status: 'pending' });
    await system.deliver(paymentEvent('pay_open', 'ord_open', { type: 'payment.pending' }), { id: 'evt_open' });
    await system.eventIs('evt_open', 'processed');
    expect(await system.order({ id: 'ord_open' })).toMatchObject({ status: 'payment_pending' });
  });
});

describe('a webhook whose order never comes', () => {
  it('goes before a human in the end, with all that is known; and if it comes later still, it is matched', async () => {
    await system.pay('pay_never', 'ord_never');
    await system.deliver(paymentEvent('pay_never', 'ord_never'), { id: 'evt_never' });
    await system.eventIs('evt_never', 'held');
    const letters = (await system.call('GET', '/v1/dead-letters?limit=200')).body.data;
    const letter = letters.find(({ payment_id }: any) => payment_id === 'pay_never');
    expect(letter).toMatchObject({
      ...{ kind: 'unmatched_payment', status: 'open', order_id: 'ord_never', amount: 10_000, currency: 'EUR' },
    });
    expect(letter.choices.toSorted()).toEqual(['give_up', 'refund', 'retry']);
    expect((await system.call('GET', '/v1/payments/sim/pay_never')).body.outcome).toBe('held_for_review');
    await system.order({ id: 'ord_never' });
    await system.orderIs('ord_never', { status: 'paid' });
    await system.eventIs('evt_never', 'processed');
    const closed = (await system.call('GET', `/v1/dead-letters/${encodeURIComponent(letter.id)}`)).body;
    expect(closed).toMatchObject({ status: 'recovered', choices: [] });
  });

  it('or that names none: it goes before a human at once', async () => {
    await system.pay('pay_nameless', null);
    await system.deliver(paymentEvent('pay_nameless', null), { id: 'evt_nameless' });
    await system.eventIs('evt_nameless', 'held');
    const letter = await system.row(`select kind, order_id from dead_letters where payment_id = 'pay_nameless'`);
    expect(letter).toEqual({ kind: 'unmatched_payment', order_id: null });
  });

  it('or another one than the gateway says: it goes before a human, and neither order is paid', async () => {
    await system.order({ id: 'ord_claimed' });
    await system.order({ id: 'ord_true' });
    await system.pay('pay_claims', 'ord_true');
    await system.deliver(paymentEvent('pay_claims', 'ord_claimed'), { id: 'evt_claims' });
    await system.eventIs('evt_claims', 'held');
    for (const id of ['ord_claimed', 'ord_true']) await system.orderIs(id, { status: 'pending_payment' });
    await system.deliver(paymentEvent('pay_claims', 'ord_true'));
    await system.orderIs('ord_true', { status: 'paid' });
    await system.orderIs('ord_claimed', { status: 'pending_payment' });
  });
});

it('leaves books in which every promise holds', async () => {
  await system.settled();
  await system.expectCleanAudit();
});
