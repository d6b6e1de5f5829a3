import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAudit } from '../../src/database/audit.ts';
import { startGatewaySystem, type GatewaySystem } from '../support/gateway-system.ts';
import { LOCALSTRIPE_KEY, startLocalstripe } from '../support/localstripe.ts';
import { startLosingProxy, type LosingProxy } from '../support/losing-proxy.ts';
import { startRazorpayStandIn, type RazorpayStandIn } from '../support/razorpay-stand-in.ts';
import type { SeenRequest } from '../support/scripted-server.ts';

const STRIPE_SECRET = 'whsec_localstripe';
const RAZORPAY_SECRET = 'razorpay';
const started = await startLocalstripe();
if (typeof started === 'string') {
  process.stderr.write(`SKIPPED: captures and voids with a stateful stand-in of Stripe: ${started}\n`);
}
const stripe = typeof started === 'string' ? null : started;

let stripeProxy: LosingProxy;
let razorpayProxy: LosingProxy;
let razorpay: RazorpayStandIn;
let system: GatewaySystem;
let card: string;

beforeAll(async () => {
  razorpay = await startRazorpayStandIn();
  stripeProxy = await startLosingProxy(stripe?.url ?? 'http://127.0.0.1:2');
  razorpayProxy = await startLosingProxy(razorpay.url);
  const account = { mode: 'test', webhook_secrets: [{ secret: STRIPE_SECRET }] };
  system = await startGatewaySystem([
    { name: 'stripe', kind: 'stripe', api_base: stripeProxy.url, api_key: LOCALSTRIPE_KEY, ...account },
    {
      ...{ name: 'razorpay', kind: 'razorpay', api_base: razorpayProxy.url, api_key: razorpay.apiKey },
      ...{ mode: 'test', webhook_secrets: [{ secret: RAZORPAY_SECRET }] },
    },
  ]);
  if (stripe === null) return;
  await stripe.registerWebhook('ours', `${system.server.url}/webhooks/stripe`, STRIPE_SECRET);
  const method = { type: 'card', 'card[number]': '4242424242424242', 'card[exp_month]': '12', 'card[cvc]': '123' };
  card = (await stripe.post('/v1/payment_methods', { ...method, 'card[exp_year]': '2050' })).id;
});

afterAll(async () => {
  await system.close();
  await Promise.all([stripeProxy.close(), razorpayProxy.close(), razorpay.close(), stripe?.stop()]);
});

const ask = (end: 'capture' | 'void', source: string, paymentId: string, body: object = {}) =>
  system.shop.post(`/v1/payments/${source}/${paymentId}/${end}`, body, { 'idempotency-key': randomUUID() });

/** The shop's own call after its customer came back: from now on we know the payment. */
async function known(source: string, paymentId: string): Promise<void> {
  await system.shop.post(`/v1/payments/${source}/${paymentId}/confirm`, {});
  const { body } = await system.shop.get(`/v1/payments/${source}/${paymentId}`);
  expect(body).toMatchObject({ status: 'authorized' });
}

const sent = (proxy: LosingProxy, path: string) => proxy.passed.filter((request) => request.path === path).length;
const posts = (path: string) => (request: SeenRequest) => request.method === 'POST' && request.path === path;

describe.skipIf(stripe === null)('a payment that Stripe has authorised', () => {
  /** Made by the shop with manual capture, and confirmed. */
  async function authorized(orderId: string): Promise<string> {
    const asked = { amount: '1999', currency: 'eur', payment_method: card, capture_method: 'manual' };
    const intent = await stripe?.post('/v1/payment_intents', { ...asked, 'metadata[order_id]': orderId });
    await stripe?.post(`/v1/payment_intents/${intent.id}/confirm`, {});
    await known('stripe', intent.id);
    return intent.id;
  }

  it('is captured by the API, and pays its order once, though the webhook says it too', async () => {
    const orderId = await system.order();
    const paymentId = await authorized(orderId);
    const made = await ask('capture', 'stripe', paymentId);
    expect(made).toMatchObject({
      status: 201,
      body: { status: 'succeeded', amount: 1999, gateway_capture_id: paymentId },
    });
    const order = await system.orderThat('is paid', orderId, ({ status }) => status === 'paid');
    expect(order).toMatchObject({ amount_paid: 1999, paid_payment_id: paymentId });
    await system.settled(paymentId, 1);
    expect(sent(stripeProxy, `/v1/payment_intents/${paymentId}/capture`)).toBe(1);
    expect(await stripe?.get(`/v1/payment_intents/${paymentId}`)).toMatchObject({ status: 'succeeded' });
  });

  it('is captured once though the answer is lost', async () => {
    const orderId = await system.order();
    const paymentId = await authorized(orderId);
    const lost = stripeProxy.loseNext(posts(`/v1/payment_intents/${paymentId}/capture`), 'cut');
    const made = await ask('capture', 'stripe', paymentId);
    await lost;
    expect([201, 202]).toContain(made.status);
    await system.orderThat('is paid', orderId, ({ status }) => status === 'paid');
    expect(sent(stripeProxy, `/v1/payment_intents/${paymentId}/capture`)).toBe(1);
  });

  it('is voided by the API, and its order has no payment any more', async () => {
    const orderId = await system.order();
    const paymentId = await authorized(orderId);
    const made = await ask('void', 'stripe', paymentId);
    expect(made).toMatchObject({ status: 201, body: { status: 'succeeded', gateway_void_id: paymentId } });
    await system.orderThat('has failed', orderId, ({ status }) => status === 'failed_final');
    expect(await stripe?.get(`/v1/payment_intents/${paymentId}`)).toMatchObject({ status: 'canceled' });
  });

  it('and that was captured in the dashboard meanwhile is not void, and counts', async () => {
    const orderId = await system.order();
    const paymentId = await authorized(orderId);
    // Just as we look, and our look does not hear of it.
    const path = `/v1/payment_intents/${paymentId}`;
    const raced = stripeProxy.loseNext(
      (request) => request.method === 'GET' && request.path.startsWith(path),
      'cut',
      () => stripe?.post(`${path}/capture`, {}),
    );
    const made = await ask('void', 'stripe', paymentId);
    await raced;
    expect([201, 202]).toContain(made.status);
    await system.orderThat('is paid', orderId, ({ status }) => status === 'paid');
    const { body } = await system.shop.get(`/v1/payments/stripe/${paymentId}/void`);
    expect(body).toMatchObject({ status: 'failed', failure_code: 'already_captured' });
  });
});

describe('a payment that Razorpay has authorised', () => {
  async function authorized(orderId: string): Promise<string> {
    const payment = razorpay.addPayment({ status: 'authorized', amount: 50_000, notes: { order_id: orderId } });
    await known('razorpay', payment.id);
    return payment.id;
  }

  const rupees = () => system.order({ currency: 'INR', amount: 50_000 });

  it('is captured whole, once, though the answer is lost', async () => {
    const orderId = await rupees();
    const paymentId = await authorized(orderId);
    const lost = razorpayProxy.loseNext(posts(`/v1/payments/${paymentId}/capture`), 'cut');
    const made = await ask('capture', 'razorpay', paymentId);
    await lost;
    expect([201, 202]).toContain(made.status);
    expect(razorpay.payments.get(paymentId)?.status).toBe('captured');
    await system.orderThat(
      'is paid',
      orderId,
      ({ status, amount_paid }) => status === 'paid' && amount_paid === 50_000,
    );
    expect(sent(razorpayProxy, `/v1/payments/${paymentId}/capture`)).toBe(1);
  });

  it('is neither voided nor captured in part: nothing is kept and nothing is sent', async () => {
    const paymentId = await authorized(await rupees());
    const answers = [
      await ask('void', 'razorpay', paymentId),
      await ask('capture', 'razorpay', paymentId, { amount: 10_000 }),
    ];
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
      [422, 'not_supported'],
      [422, 'not_supported'],
    ]);
    expect(razorpay.payments.get(paymentId)?.status).toBe('authorized');
    expect((await ask('capture', 'razorpay', paymentId)).body).toMatchObject({ status: 'succeeded' });
  });
});

it('all of it leaves nothing for the audit to find', async () => {
  expect((await runAudit(system.database.pool)).violations).toEqual([]);
});
