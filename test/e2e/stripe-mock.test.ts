import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createStripeGateway } from '../../src/gateways/stripe/create-stripe-gateway.ts';
import type { Gateway } from '../../src/gateways/gateway.ts';
import { startLosingProxy, type Instead, type LosingProxy } from '../support/losing-proxy.ts';
import { startStripeMock, type StripeMock } from '../support/stripe-mock.ts';

const started = await startStripeMock();
if (typeof started === 'string') {
  process.stderr.write(`SKIPPED: the Stripe adapter's requests against today's API: ${started}\n`);
}

describe.skipIf(typeof started === 'string')("the Stripe adapter's requests, at today's API", () => {
  const mock = started as StripeMock;
  let proxy: LosingProxy;
  let gateway: Gateway;
  let before: number;
  let instead: Instead;

  beforeAll(async () => {
    proxy = await startLosingProxy(mock.url, (request) => instead(request));
    const config = { name: 'stripe', kind: 'stripe', mode: 'test', accountNumber: null, webhookSecrets: [] } as const;
    gateway = createStripeGateway({ ...config, apiBase: proxy.url, apiKey: 'sk_test_x' }, { toleranceMs: 300_000 });
  });

  afterAll(async () => {
    await Promise.all([proxy.close(), mock.stop()]);
  });

  beforeEach(() => {
    before = proxy.passed.length;
    instead = () => null;
  });

  /** The mock's objects are examples and need not fit together; what counts is that it accepts what it is asked. */
  async function answered(call: Promise<unknown>): Promise<string[]> {
    await call.catch(() => undefined);
    return proxy.passed.slice(before).map(({ method, path, status }) => `${method} ${path.split('?')[0]} ${status}`);
  }

  const refund = {
    ...{ amount: 1999n, currency: 'EUR', reference: 'refund:extra_capture:stripe:x', idempotencyKey: 'refund:x' },
  };
  const payment = {
    ...{ orderId: 'ord_1', amount: 1999n, currency: 'EUR', returnUrl: 'https://shop.example/thanks' },
    ...{ reference: 'checkout:ord_1:1', idempotencyKey: 'checkout:ord_1:1' },
  };

  it('a payment is prepared', async () => {
    expect(await answered(gateway.preparePayment(payment))).toEqual(['POST /v1/payment_intents 200']);
  });

  it('a prepared payment is searched for', async () => {
    expect(await answered(gateway.findPayments('checkout:ord_1:1', 'ord_1'))).toEqual([
      'GET /v1/payment_intents/search 200',
    ]);
  });

  it('a prepared payment is looked for among the newest where search is not offered', async () => {
    instead = ({ path }) =>
      path.includes('/search') ? { status: 400, body: { error: { type: 'invalid_request_error' } } } : null;
    expect(await answered(gateway.findPayments('checkout:ord_1:1', 'ord_1'))).toEqual(['GET /v1/payment_intents 200']);
  });

  it('a payment is read with its charge, and its order by its Checkout session', async () => {
    expect(await answered(gateway.fetchPayment('pi_1'))).toEqual([
      'GET /v1/payment_intents/pi_1 200',
      'GET /v1/checkout/sessions 200',
    ]);
  });

  it('a charge is read that is a payment by itself', async () => {
    expect(await answered(gateway.fetchPayment('ch_1'))).toEqual(['GET /v1/charges/ch_1 200']);
  });

  it.each(['pi_1', 'ch_1'])('the refunds of %s are listed', async (paymentId) => {
    expect(await answered(gateway.listRefunds(paymentId))).toEqual(['GET /v1/refunds 200']);
  });

  it('the books are asked about a refund that may be the rest of an authorization', async () => {
    const charge = { object: 'charge', amount: 2, amount_captured: 1 };
    const suspect = { id: 're_1', object: 'refund', amount: 1, currency: 'eur', status: 'succeeded', charge };
    const list = { object: 'list', has_more: false, data: [{ ...suspect, balance_transaction: 'txn_1' }] };
    instead = ({ path }) => (path.startsWith('/v1/refunds') ? { status: 200, body: list } : null);
    expect(await answered(gateway.listRefunds('pi_1'))).toEqual(['GET /v1/balance_transactions/txn_1 200']);
  });

  it.each(['pi_1', 'ch_1'])('the refunds of %s are looked through for ours', async (paymentId) => {
    expect(await answered(gateway.findRefunds(paymentId, refund.reference))).toEqual(['GET /v1/refunds 200']);
  });

  it.each(['pi_1', 'ch_1'])('a refund of %s is made', async (paymentId) => {
    expect(await answered(gateway.createRefund({ ...refund, paymentId }))).toEqual(['POST /v1/refunds 200']);
  });

  it('and a parameter that the API does not know is refused, so that all this proves something', async () => {
    const response = await fetch(`${proxy.url}/v1/refunds?unheard_of=1`, {
      headers: { authorization: 'Bearer sk_test_x' },
    });
    expect(response.status).toBe(400);
  });

  it('events are listed by time and type, and page after page', async () => {
    const now = new Date();
    const listing = { since: new Date(0), now, limit: 100 };
    const from = Math.floor(now.getTime() / 1000) - 60;
    expect(await answered(gateway.listEvents({ ...listing, after: String(from) }))).toEqual(['GET /v1/events 200']);
    before = proxy.passed.length;
    const within = `${from}.${from + 60}.evt_1`;
    expect(await answered(gateway.listEvents({ ...listing, after: within }))).toEqual(['GET /v1/events 200']);
  });
});
