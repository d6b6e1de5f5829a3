import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gateway, RefundOrder } from '../../src/gateways/gateway.ts';
import { createRazorpayGateway } from '../../src/gateways/razorpay/create-razorpay-gateway.ts';
import { startRazorpayStandIn, type RazorpayStandIn } from '../support/razorpay-stand-in.ts';

const SECRET = 'razorpay-webhook-secret';

describe('the Razorpay adapter, against a stand-in of Razorpay', () => {
  let razorpay: RazorpayStandIn;
  let gateway: Gateway;

  beforeAll(async () => {
    razorpay = await startRazorpayStandIn();
    gateway = createRazorpayGateway({
      name: 'razorpay',
      kind: 'razorpay',
      mode: 'test',
      apiBase: razorpay.url,
      apiKey: razorpay.apiKey,
      accountNumber: null,
      webhookSecrets: [{ secret: SECRET, eventsBefore: null }],
    });
  });

  afterAll(() => razorpay.close());

  function refundOf(paymentId: string, more: Partial<RefundOrder> = {}): RefundOrder {
    const reference = `refund:extra_capture:razorpay:${paymentId}`;
    return { paymentId, amount: 500n, currency: 'INR', reference, idempotencyKey: reference, ...more };
  }

  function refundsOf(paymentId: string): number {
    return razorpay.refunds.filter((refund) => refund.payment_id === paymentId).length;
  }

  it('shows a payment with its order, and does not know one that is not there', async () => {
    const { id } = razorpay.addPayment({ notes: { order_id: 'ord_1' }, amount_refunded: 100 });
    expect(await gateway.fetchPayment(id)).toMatchObject({
      paymentId: id,
      orderId: 'ord_1',
      status: 'captured',
      amount: 50_000n,
      currency: 'INR',
      amountRefunded: 100n,
    });
    expect(await gateway.fetchPayment('pay_nowhere')).toBeNull();
  });

  it('verifies a signed webhook and reads it as a capture', () => {
    const payment = razorpay.addPayment({ notes: { order_id: 'ord_2' } });
    const event = {
      event: 'payment.captured',
      payload: { payment: { entity: payment } },
      created_at: 1_764_500_000,
    };
    const { body, headers } = razorpay.sign(event, SECRET, 'evt_1');
    gateway.verify({ body, headers, now: Date.now() });
    expect(gateway.read(body, headers)).toMatchObject({
      verdict: 'take',
      eventId: 'evt_1',
      paymentId: payment.id,
      orderId: 'ord_2',
      claimed: 'captured',
      amount: 50_000n,
    });
    const forged = razorpay.sign(event, 'another secret', 'evt_1');
    expect(() => gateway.verify({ body: forged.body, headers: forged.headers, now: Date.now() })).toThrow('no secret');
  });

  it('refunds, and the same key gives the same refund', async () => {
    const { id } = razorpay.addPayment({});
    const first = await gateway.createRefund(refundOf(id));
    expect(first).toMatchObject({
      paymentId: id,
      amount: 500n,
      status: 'succeeded',
      reference: refundOf(id).reference,
    });
    expect(await gateway.createRefund(refundOf(id))).toEqual(first);
    expect(refundsOf(id)).toBe(1);
    expect(await gateway.findRefunds(id, refundOf(id).reference)).toEqual([first]);
    expect(await gateway.findRefunds(id, 'refund:other')).toEqual([]);
  });

  it('says that another refund under the same key is no repetition', async () => {
    const { id } = razorpay.addPayment({});
    await gateway.createRefund(refundOf(id));
    await expect(gateway.createRefund(refundOf(id, { amount: 600n }))).rejects.toMatchObject({
      kind: 'rejected',
      code: 'idempotency_key_reused',
    });
    expect(refundsOf(id)).toBe(1);
  });

  it('calls a refund whose answer was lost unknown, has sent it once, and finds it', async () => {
    const { id } = razorpay.addPayment({});
    razorpay.loseNextAnswer();
    const before = razorpay.requests.length;
    await expect(gateway.createRefund(refundOf(id))).rejects.toMatchObject({ name: 'GatewayError', kind: 'unknown' });
    expect(razorpay.requests.length - before).toBe(1);
    expect(await gateway.findRefunds(id, refundOf(id).reference)).toMatchObject([
      { amount: 500n, status: 'succeeded' },
    ]);
    expect(refundsOf(id)).toBe(1);
  });

  it('calls a refund unknown while the first one under its key is at work', async () => {
    const { id } = razorpay.addPayment({});
    const release = razorpay.holdNextRefund();
    const first = gateway.createRefund(refundOf(id));
    await expect.poll(() => razorpay.requests.at(-1)?.path).toContain(id);
    await expect(gateway.createRefund(refundOf(id))).rejects.toMatchObject({
      kind: 'unknown',
      code: 'request_in_progress',
    });
    release();
    expect(await gateway.findRefunds(id, refundOf(id).reference)).toEqual([await first]);
    expect(refundsOf(id)).toBe(1);
  });

  it('tells the definite refusals apart', async () => {
    const { id } = razorpay.addPayment({ amount: 1000 });
    const too = { amount: 1001n, reference: 'refund:too_much', idempotencyKey: 'refund:too_much' };
    await expect(gateway.createRefund(refundOf(id, too))).rejects.toMatchObject({
      kind: 'rejected',
      code: 'refund_exceeds_captured',
    });
    await gateway.createRefund(refundOf(id, { amount: 1000n }));
    const again = { reference: 'refund:again', idempotencyKey: 'refund:again' };
    await expect(gateway.createRefund(refundOf(id, again))).rejects.toMatchObject({
      kind: 'rejected',
      code: 'already_refunded',
    });
    expect(await gateway.fetchPayment(id)).toMatchObject({ status: 'captured', amountRefunded: 1000n });
    await expect(gateway.createRefund(refundOf('pay_nowhere'))).rejects.toMatchObject({
      kind: 'rejected',
      ourFault: true,
    });
  });

  it('finds our refund behind more than a page of others', async () => {
    const { id } = razorpay.addPayment({});
    const ours = await gateway.createRefund(refundOf(id));
    for (let n = 0; n < 120; n++) {
      const key = `refund:other_${n}`;
      await gateway.createRefund(refundOf(id, { amount: 1n, reference: key, idempotencyKey: key }));
    }
    expect(await gateway.findRefunds(id, refundOf(id).reference)).toEqual([ours]);
    expect(await gateway.listRefunds(id)).toHaveLength(121);
  });
});
