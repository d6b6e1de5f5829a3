import { describe, expect, it } from 'vitest';
import type { RefundOrder } from '../../src/gateways/gateway.ts';
import { failureOf, gatewayThat } from '../support/scripted-gateway.ts';
import { sendJson, type Script } from '../support/scripted-server.ts';

const PAYMENT = {
  id: 'pay_1',
  entity: 'payment',
  amount: 50_000,
  currency: 'INR',
  status: 'captured',
  amount_refunded: 0,
  notes: [],
};
const REFUND = {
  id: 'rfnd_1',
  entity: 'refund',
  amount: 500,
  currency: 'INR',
  payment_id: 'pay_1',
  status: 'processed',
  notes: [],
};
const ORDER: RefundOrder = {
  paymentId: 'pay_1',
  amount: 500n,
  currency: 'INR',
  reference: 'refund:extra_capture:razorpay:pay_1234567890abcd',
  idempotencyKey: 'refund:extra_capture:razorpay:pay_1234567890abcd',
};

const razorpayThat = (script: Script) => gatewayThat({ name: 'rzp', kind: 'razorpay' }, script, 500);

function refusal(
  status: number,
  description: string,
  code = 'BAD_REQUEST_ERROR',
  headers: Record<string, string> = {},
): Script {
  return (_request, response) => sendJson(response, status, { error: { code, description, reason: 'NA' } }, headers);
}

describe('a refund at Razorpay', () => {
  it('carries a key in their alphabet, our reference in the notes, and a receipt that fits', async () => {
    const { gateway, requests } = await razorpayThat((_request, response) => sendJson(response, 200, REFUND));
    expect(await gateway.createRefund(ORDER)).toEqual({
      refundId: 'rfnd_1',
      paymentId: 'pay_1',
      amount: 500n,
      currency: 'INR',
      status: 'succeeded',
      reference: ORDER.reference,
      failureCode: null,
    });
    await gateway.createRefund(ORDER);
    const [first, second] = requests;
    expect(first).toMatchObject({ method: 'POST', path: '/v1/payments/pay_1/refund' });
    expect(first?.headers.authorization).toBe(`Basic ${Buffer.from('id:secret').toString('base64')}`);
    expect(first?.headers['x-refund-idempotency']).toMatch(/^[A-Za-z0-9_-]{10,64}$/);
    expect(second?.headers['x-refund-idempotency']).toBe(first?.headers['x-refund-idempotency']);
    const body = JSON.parse(first?.body ?? '');
    expect(body).toEqual({ amount: 500, notes: { paidonce_reference: ORDER.reference }, receipt: expect.any(String) });
    expect(body.receipt.length).toBeLessThanOrEqual(40);
    expect(second?.body).toBe(first?.body);
  });

  it('gets another key for another attempt, and its own where that fits', async () => {
    const { gateway, requests } = await razorpayThat((_request, response) => sendJson(response, 200, REFUND));
    for (const idempotencyKey of [ORDER.idempotencyKey, `${ORDER.idempotencyKey}#2`, 'refund_0123456789']) {
      await gateway.createRefund({ ...ORDER, idempotencyKey });
    }
    const keys = requests.map(({ headers }) => headers['x-refund-idempotency']);
    expect(new Set(keys).size).toBe(3);
    expect(keys[2]).toBe('refund_0123456789');
  });

  it.each<[string, Script, string, string, boolean]>([
    [
      'fully refunded',
      refusal(400, 'The payment has been fully refunded already'),
      'rejected',
      'already_refunded',
      false,
    ],
    [
      'too much',
      refusal(400, 'The total refund amount is greater than the refund payment amount'),
      'rejected',
      'refund_exceeds_captured',
      false,
    ],
    [
      'too little balance',
      refusal(400, 'Your account does not have enough balance to carry out the refund'),
      'rejected',
      'insufficient_balance',
      false,
    ],
    [
      'another body under the key',
      refusal(400, 'Different request with the same idempotency key'),
      'rejected',
      'idempotency_key_reused',
      true,
    ],
    ['not captured', refusal(400, 'The payment status should be captured'), 'rejected', 'BAD_REQUEST_ERROR', true],
    ['unknown', refusal(400, 'The id provided does not exist'), 'rejected', 'unknown_id', true],
    ['not allowed', refusal(401, 'Authentication failed'), 'rejected', 'BAD_REQUEST_ERROR', true],
    ['still at work under the key', refusal(409, 'in progress'), 'unknown', 'request_in_progress', false],
    ['lost behind them', refusal(400, 'Oops', 'GATEWAY_ERROR'), 'unknown', 'GATEWAY_ERROR', false],
    ['an error of theirs', refusal(500, 'Oops', 'SERVER_ERROR'), 'unknown', 'SERVER_ERROR', false],
    ['never answered', () => undefined, 'unknown', 'timeout', false],
    ['cut', (_request, response) => response.socket?.destroy(), 'unknown', 'connection_lost', false],
    ['no JSON', (_request, response) => sendJson(response, 200, '<html>'), 'unknown', 'unreadable_answer', false],
    [
      'no refund',
      (_request, response) => sendJson(response, 200, { entity: 'payment', id: 'pay_1' }),
      'unknown',
      'unreadable_answer',
      false,
    ],
    [
      'a refund of another payment',
      (_request, response) => sendJson(response, 200, { ...REFUND, payment_id: 'pay_2' }),
      'unknown',
      'unreadable_answer',
      false,
    ],
    [
      'too many requests',
      refusal(429, 'Too many requests', 'BAD_REQUEST_ERROR', { 'retry-after': '3' }),
      'temporary',
      'BAD_REQUEST_ERROR',
      false,
    ],
  ])('answered by "%s" is told as what it is, and sent once', async (_name, script, kind, code, ourFault) => {
    const { gateway, requests } = await razorpayThat(script);
    expect(await failureOf(gateway.createRefund(ORDER))).toMatchObject({ kind, code, ourFault });
    expect(requests).toHaveLength(1);
  });

  it("says in the operator's message why it was refused", async () => {
    const { gateway } = await razorpayThat(refusal(400, 'Refund is not supported by the bank'));
    expect((await failureOf(gateway.createRefund(ORDER))).message).toContain('Refund is not supported by the bank');
  });

  it('of what cannot be told exactly is refused before anything is sent', async () => {
    const { gateway, requests } = await razorpayThat((_request, response) => sendJson(response, 200, REFUND));
    const refused = { kind: 'rejected', code: 'amount_not_exact', ourFault: true };
    expect(await failureOf(gateway.createRefund({ ...ORDER, amount: 2n ** 53n }))).toMatchObject(refused);
    expect(await failureOf(gateway.createRefund({ ...ORDER, amount: 5n, currency: 'ISK' }))).toMatchObject(refused);
    expect(requests).toHaveLength(0);
  });
});

describe('a read from Razorpay', () => {
  it.each([
    ['created', {}, 'pending'],
    ['pending', { method: 'cod' }, 'pending'],
    ['authorized', { captured: false }, 'authorized'],
    ['captured', { captured: true, amount_refunded: 100 }, 'captured'],
    ['refunded', { captured: true, amount_refunded: 50_000 }, 'captured'],
    ['refunded', { captured: false, amount_refunded: 50_000 }, 'expired'],
    ['failed', {}, 'failed'],
  ])('shows a payment that is %s %o as %s', async (status, more, ours) => {
    const payment = { ...PAYMENT, status, ...more, notes: { order_id: 'ord_1' } };
    const { gateway } = await razorpayThat((_request, response) => sendJson(response, 200, payment));
    expect(await gateway.fetchPayment('pay_1')).toEqual({
      paymentId: 'pay_1',
      orderId: 'ord_1',
      reference: null,
      status: ours,
      amount: 50_000n,
      currency: 'INR',
      amountRefunded: BigInt(payment.amount_refunded),
      mode: null,
    });
  });

  it.each([
    ['in its notes', { order_id: 'ord_1' }, 'ord_1'],
    ['nowhere', [], null],
    ['in notes that are no id', { order_id: 'ord 1' }, null],
  ])("finds the order of a payment that names none at Razorpay's own order: %s", async (_name, notes, orderId) => {
    const { gateway, requests } = await razorpayThat(({ path }, response) => {
      if (path === '/v1/orders/order_1') return sendJson(response, 200, { id: 'order_1', entity: 'order', notes });
      return sendJson(response, 200, { ...PAYMENT, order_id: 'order_1' });
    });
    expect(await gateway.fetchPayment('pay_1')).toMatchObject({ paymentId: 'pay_1', orderId });
    expect(requests).toHaveLength(2);
  });

  it("asks for no order of Razorpay's where the payment names its own, or has none", async () => {
    for (const more of [{ order_id: 'order_1', notes: { order_id: 'ord_1' } }, { order_id: null }, {}]) {
      const { gateway, requests } = await razorpayThat((_request, response) =>
        sendJson(response, 200, { ...PAYMENT, ...more }),
      );
      await gateway.fetchPayment('pay_1');
      expect(requests).toHaveLength(1);
    }
  });

  it('leaves the order open where Razorpay does not know its own, and asks again where it cannot be read', async () => {
    const withOrder: (script: Script) => Script = (script) => (request, response) =>
      request.path.startsWith('/v1/orders/')
        ? script(request, response)
        : sendJson(response, 200, { ...PAYMENT, order_id: 'order_1' });
    const without = await razorpayThat(withOrder(refusal(400, 'The requested URL was not found on the server.')));
    expect(await without.gateway.fetchPayment('pay_1')).toMatchObject({ orderId: null });
    const failing = await razorpayThat(withOrder(refusal(500, 'Oops', 'SERVER_ERROR')));
    expect(await failureOf(failing.gateway.fetchPayment('pay_1'))).toMatchObject({ kind: 'temporary' });
  });

  it('makes up no amount that is not there', async () => {
    const { gateway } = await razorpayThat((_request, response) =>
      sendJson(response, 200, { id: 'pay_1', entity: 'payment', status: 'captured' }),
    );
    expect(await gateway.fetchPayment('pay_1')).toMatchObject({
      amount: null,
      currency: null,
      amountRefunded: null,
      orderId: null,
    });
  });

  it('of an unknown payment is null, though they call it a bad request', async () => {
    const { gateway } = await razorpayThat(refusal(400, 'The id provided does not exist'));
    expect(await gateway.fetchPayment('pay_2')).toBeNull();
    expect(await gateway.listRefunds('pay_2')).toEqual([]);
  });

  it.each<[string, Script, string]>([
    ['another bad request', refusal(400, 'invalid request sent'), 'BAD_REQUEST_ERROR'],
    ['a wrong key', refusal(401, 'Authentication failed'), 'unauthorized'],
    ['an error of theirs', refusal(500, 'Oops', 'SERVER_ERROR'), 'SERVER_ERROR'],
    ['nothing', () => undefined, 'timeout'],
    [
      'another payment',
      (_request, response) => sendJson(response, 200, { ...PAYMENT, id: 'pay_2' }),
      'unreadable_answer',
    ],
    [
      'a new status',
      (_request, response) => sendJson(response, 200, { ...PAYMENT, status: 'levitating' }),
      'unreadable_answer',
    ],
  ])('answered by "%s" is temporary, and asked once', async (_name, script, code) => {
    const { gateway, requests } = await razorpayThat(script);
    expect(await failureOf(gateway.fetchPayment('pay_1'))).toMatchObject({ kind: 'temporary', code });
    expect(requests).toHaveLength(1);
  });

  it('whose refunds are the same page for ever is not asked for ever', async () => {
    const page = { entity: 'collection', items: [REFUND] };
    const { gateway, requests } = await razorpayThat((_request, response) => sendJson(response, 200, page));
    expect(await failureOf(gateway.listRefunds('pay_1'))).toMatchObject({ kind: 'temporary' });
    expect(requests.length).toBeLessThan(20);
  });

  it('whose refund is answered by another one is unknown: that is no answer to ours', async () => {
    for (const other of [{ notes: { paidonce_reference: 'refund:other' } }, { currency: 'USD' }]) {
      const { gateway } = await razorpayThat((_request, response) => sendJson(response, 200, { ...REFUND, ...other }));
      expect(await failureOf(gateway.createRefund(ORDER))).toMatchObject({ kind: 'unknown' });
    }
  });

  it('puts an id into the path and nowhere else', async () => {
    const { gateway, requests } = await razorpayThat(refusal(400, 'The id provided does not exist'));
    await gateway.fetchPayment('../refunds?x=1');
    expect(requests[0]?.path).toBe('/v1/payments/..%2Frefunds%3Fx%3D1');
  });

  it('cannot prepare a payment, and says so', async () => {
    const { gateway } = await razorpayThat(() => undefined);
    expect(gateway.capabilities.preparesPayments).toBe(false);
    expect(await gateway.findPayments('checkout:ord_1:1', 'ord_1')).toEqual([]);
    const order = {
      orderId: 'ord_1',
      amount: 1n,
      currency: 'INR',
      reference: 'r',
      idempotencyKey: 'k',
      returnUrl: null,
    };
    expect(await failureOf(gateway.preparePayment(order))).toMatchObject({ kind: 'rejected', code: 'not_supported' });
  });
});
