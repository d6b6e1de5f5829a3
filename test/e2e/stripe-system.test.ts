import { randomUUID } from 'node:crypto';
import Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAudit } from '../../src/database/audit.ts';
import { eventually } from '../support/eventually.ts';
import { startGatewaySystem, type GatewaySystem } from '../support/gateway-system.ts';
import { LOCALSTRIPE_KEY, startLocalstripe } from '../support/localstripe.ts';
import { startLosingProxy, type LosingProxy } from '../support/losing-proxy.ts';
import { simSettings, type SimSettings } from '../support/processes.ts';
import type { SeenRequest } from '../support/scripted-server.ts';
import { control } from '../support/simulator.ts';

const SECRET = 'whsec_localstripe';

const started = await startLocalstripe();
if (typeof started === 'string') {
  process.stderr.write(`SKIPPED: the whole system with a stateful stand-in of Stripe: ${started}\n`);
}
const stripe = typeof started === 'string' ? null : started;

/** Checkout sessions by their PaymentIntents: the stand-in has none. */
const sessions = new Map<string, object>();

let proxy: LosingProxy;
let sim: SimSettings;
let system: GatewaySystem;
/** The shop's own use of Stripe, with nothing of ours in between. */
let sdk: Stripe;
let card: string;
/** Every payment that was captured, and those of them that count for their orders. */
const captured: string[] = [];
const kept = new Set<string>();

beforeAll(async () => {
  proxy = await startLosingProxy(stripe?.url ?? 'http://127.0.0.1:2', ({ path }) => {
    const { pathname, searchParams } = new URL(path, 'http://stripe');
    const session = sessions.get(searchParams.get('payment_intent') ?? '');
    if (pathname !== '/v1/checkout/sessions' || session === undefined) return null;
    return { status: 200, body: { object: 'list', data: [session], has_more: false } };
  });
  sim = await simSettings();
  const webhook_secrets = [{ secret: SECRET }];
  const account = { kind: 'stripe', mode: 'test', api_base: proxy.url, api_key: LOCALSTRIPE_KEY, webhook_secrets };
  system = await startGatewaySystem([{ name: 'stripe', ...account }], sim);
  if (stripe === null) return;
  // Under two names, so that every event comes twice.
  for (const name of ['first', 'second']) {
    await stripe.registerWebhook(name, `${system.server.url}/webhooks/stripe`, SECRET);
  }
  const port = Number(new URL(stripe.url).port);
  sdk = new Stripe(LOCALSTRIPE_KEY, { host: '127.0.0.1', port, protocol: 'http', maxNetworkRetries: 0 });
  const details = { number: '4242424242424242', exp_month: 12, exp_year: 2050, cvc: '123' };
  card = (await sdk.paymentMethods.create({ type: 'card', card: details })).id;
});

afterAll(async () => {
  await system.close();
  await Promise.all([proxy.close(), stripe?.stop()]);
});

/** The customer pays, by a PaymentIntent that the shop itself makes. */
async function pay(orderId: string, more: { amount?: number; currency?: string } = {}): Promise<string> {
  return capture(await intent({ ...more, metadata: { order_id: orderId } }));
}

async function intent(more: Partial<Stripe.PaymentIntentCreateParams>): Promise<string> {
  const { currency = 'EUR' } = more;
  const asked = { amount: 1999, payment_method: card, ...more, currency: currency.toLowerCase() };
  return (await sdk.paymentIntents.create(asked)).id;
}

async function capture(paymentId: string): Promise<string> {
  await sdk.paymentIntents.confirm(paymentId);
  captured.push(paymentId);
  return paymentId;
}

async function paid(orderId: string): Promise<any> {
  const order = await system.orderThat('is paid', orderId, ({ status }) => status === 'paid');
  kept.add(order.paid_payment_id);
  return order;
}

/** An order that is paid, and a second payment for it. */
async function paidTwice(): Promise<{ orderId: string; extra: string }> {
  const orderId = await system.order();
  await pay(orderId);
  await paid(orderId);
  return { orderId, extra: await pay(orderId) };
}

async function checkOut(orderId: string, source: string) {
  return system.shop.post(`/v1/orders/${orderId}/checkout`, { source }, { 'idempotency-key': randomUUID() });
}

async function refundsAtStripe(payment_intent: string) {
  return (await sdk.refunds.list({ payment_intent, limit: 100 })).data;
}

async function refundedOnce(orderId: string, extra: string, limitMs?: number): Promise<void> {
  const order = await system.orderThat(
    ...['has refunded what was too much', orderId, ({ refunds }: any) => refunds[0]?.status === 'succeeded', limitMs],
  );
  const refunds = await refundsAtStripe(extra);
  expect(refunds).toMatchObject([
    { amount: 1999, metadata: { paidonce_reference: `refund:extra_capture:stripe:${extra}` } },
  ]);
  expect(order).toMatchObject({
    ...{ status: 'paid', amount_paid: 1999, amount_refunded: 0, surplus: 0 },
    refunds: [{ payment_id: extra, kind: 'extra_capture', amount: 1999, gateway_refund_id: refunds[0]?.id }],
  });
  expect(order.paid_payment_id).not.toBe(extra);
}

function creates({ method, path }: SeenRequest): boolean {
  return method === 'POST' && path === '/v1/refunds';
}

function createsOf(paymentId: string): number {
  return proxy.passed.filter((request) => creates(request) && request.body.includes(paymentId)).length;
}

/** Numbers as the gateway itself must show them; with the points for each whole yen, dinar, euro. */
const AMOUNTS = [
  ['JPY', 500, 500],
  ['EUR', 1999, 19],
] as const;

/** What becomes of it is seen at the end: the engine notices the dead worker by its time limit. */
let interrupted = { orderId: '', extra: '' };

describe.skipIf(stripe === null)('the whole system, with a stateful stand-in of Stripe', () => {
  it('a worker is killed when its refund is done and its answer on the way', async () => {
    const done = proxy.loseNext(creates, 'cut', () => system.worker.kill('SIGKILL'));
    interrupted = await paidTwice();
    await done;
    await system.worker.restart();
    expect(await refundsAtStripe(interrupted.extra)).toHaveLength(1);
  }, 90_000);

  it("Stripe's own signed webhook pays the order, and coming twice pays it once", async () => {
    const orderId = await system.order();
    const paymentId = await pay(orderId);
    const order = await paid(orderId);
    await system.settled(paymentId, 2);
    expect(order).toMatchObject({ paid_source: 'stripe', paid_payment_id: paymentId, amount_paid: 1999, refunds: [] });
    expect((await system.shop.get(`/v1/orders/${orderId}`)).body).toEqual(order);
    expect(order.consequences).toMatchObject({
      bookings: [{ line_id: 'l1', status: 'confirmed' }],
      loyalty: [{ payment_id: paymentId, points: 19 }],
      invoices: [{ kind: 'invoice', amount: 1999 }],
    });
    const events = await system.rows(
      `select e.event_type, p.outcome from webhook_events e
       join processed_events p on p.event_id = e.source || ':' || e.event_id where e.payment_id = $1`,
      paymentId,
    );
    expect(events).toEqual([{ event_type: 'payment_intent.succeeded', outcome: 'marked_paid' }]);
  });

  it('a second payment of the order is refunded once, and the first never', async () => {
    const { orderId, extra } = await paidTwice();
    await system.settled(extra, 2);
    await refundedOnce(orderId, extra);
    expect(createsOf(extra)).toBe(1);
  });

  it('of two payments in the same instant one is kept and one refunded', async () => {
    const orderId = await system.order();
    const payments = await Promise.all([pay(orderId), pay(orderId)]);
    const { paid_payment_id } = await paid(orderId);
    const [extra = ''] = payments.filter((id) => id !== paid_payment_id);
    await refundedOnce(orderId, extra);
  });

  it('refunds whose answers are lost, each in another way, are found by a look, without the wait before a second create', async () => {
    const lost = (['cut', 'half', 'swallow'] as const).map((how) => proxy.loseNext(creates, how));
    const cases = await Promise.all(lost.map(() => paidTwice()));
    await Promise.all(lost);
    // The adapter gives up after 8 s, and 30 s must pass before a create may be sent again.
    for (const { orderId, extra } of cases) {
      await refundedOnce(orderId, extra, 20_000);
      expect(createsOf(extra)).toBe(1);
    }
  }, 60_000);

  it('a checkout gives a client secret, and the payment that it prepared pays', async () => {
    const orderId = await system.order();
    const answer = await checkOut(orderId, 'stripe');
    expect(answer).toMatchObject({ status: 201, body: { source: 'stripe', status: 'succeeded' } });
    const { payment_id: paymentId, client_secret: secret } = answer.body;
    expect(await sdk.paymentIntents.retrieve(paymentId)).toMatchObject({
      ...{ amount: 1999, currency: 'eur', client_secret: secret },
      metadata: { order_id: orderId, paidonce_reference: `checkout:${orderId}:1` },
    });
    await system.orderThat('waits for its payment', orderId, ({ status }) => status === 'payment_pending');
    await stripe?.post(`/v1/payment_intents/${paymentId}`, { payment_method: card });
    await capture(paymentId);
    expect(await paid(orderId)).toMatchObject({ paid_payment_id: paymentId, amount_paid: 1999 });
  });

  it('a payment that only its Checkout session names the order of pays that order', async () => {
    const orderId = await system.order();
    const paymentId = await intent({});
    sessions.set(paymentId, { object: 'checkout.session', client_reference_id: orderId, metadata: {} });
    await capture(paymentId);
    expect(await paid(orderId)).toMatchObject({ paid_payment_id: paymentId, amount_paid: 1999 });
  });

  it('an authorization that is given up is no refund, and nothing waits for a capture that never comes', async () => {
    const orderId = await system.order();
    const paymentId = await intent({ capture_method: 'manual', metadata: { order_id: orderId } });
    await sdk.paymentIntents.confirm(paymentId);
    await sdk.paymentIntents.cancel(paymentId);
    const charge = { id: 'ch_1', object: 'charge', payment_intent: paymentId, captured: false, refunded: true };
    expect(await deliver('charge.refunded', { ...charge, amount: 1999, amount_refunded: 1999 })).toBe(200);
    await system.settled(paymentId, 1);
    const [event] = await system.rows('select state, last_error from webhook_events where payment_id = $1', paymentId);
    expect(event).toEqual({ state: 'processed', last_error: null });
    expect((await system.shop.get(`/v1/orders/${orderId}`)).body).toMatchObject({
      status: 'failed_final',
      refunds: [],
    });
  });

  /** An event that the stand-in does not send, signed as Stripe signs. */
  async function deliver(type: string, object: object): Promise<number> {
    const created = Math.floor(Date.now() / 1000);
    const event = { id: `evt_${type}`, object: 'event', type, created, livemode: false, data: { object } };
    const body = JSON.stringify(event);
    const signature = Stripe.webhooks.generateTestHeaderString({ payload: body, secret: SECRET });
    const url = `${system.server.url}/webhooks/stripe`;
    return (await fetch(url, { method: 'POST', body, headers: { 'stripe-signature': signature } })).status;
  }

  it.each([...AMOUNTS, ['KWD', 1230, 1] as const])(
    '%s %i are these very numbers at Stripe, here, and in a refund',
    async (currency, amount, points) => {
      const orderId = await system.order({ currency, amount });
      const { payment_id: prepared } = (await checkOut(orderId, 'stripe')).body;
      expect(await sdk.paymentIntents.retrieve(prepared)).toMatchObject({ amount });
      await pay(orderId, { currency, amount });
      const order = await paid(orderId);
      expect(order).toMatchObject({ amount_due: amount, amount_paid: amount, surplus: 0 });
      expect(order.consequences).toMatchObject({ loyalty: [{ points }], invoices: [{ amount }] });
      const extra = await pay(orderId, { currency, amount });
      await eventually('its refund', async () => (await refundsAtStripe(extra))[0]?.amount === amount);
    },
  );

  it('KWD 1.234, which Stripe does not take, is refused before it is sent, and the order stays payable', async () => {
    const orderId = await system.order({ currency: 'KWD', amount: 1234 });
    const sent = () => proxy.passed.filter(({ method }) => method === 'POST').length;
    const before = sent();
    expect((await checkOut(orderId, 'stripe')).body).toMatchObject({
      status: 'failed',
      failure_code: 'amount_not_exact',
    });
    expect(sent()).toBe(before);
    expect((await system.shop.get(`/v1/orders/${orderId}`)).body.status).toBe('pending_payment');
  });
});

// Between the two halves of the Stripe tests, so that it runs while the engine waits for the worker that was killed.
describe('the whole system, with a gateway of the standard protocol', () => {
  async function atGateway(path: string): Promise<any> {
    return (await fetch(sim.url + path, { headers: { authorization: `Bearer ${sim.apiKey}` } })).json();
  }

  it.each([...AMOUNTS, ['KWD', 1234, 1] as const])(
    '%s %i are these very numbers at the gateway, in its webhook, here, and in a refund',
    async (currency, amount, points) => {
      const orderId = await system.order({ currency, amount });
      const { payment_id: paymentId } = (await checkOut(orderId, 'sim')).body;
      expect(await atGateway(`/payments/${paymentId}`)).toMatchObject({ amount, currency });
      await control(sim, 'POST', `/payments/${paymentId}/capture`, {});
      const order = await system.orderThat('is paid', orderId, ({ status }) => status === 'paid');
      expect(order).toMatchObject({ amount_due: amount, amount_paid: amount, surplus: 0 });
      expect(order.consequences).toMatchObject({ loyalty: [{ points }], invoices: [{ amount }] });
      const [delivery] = await system.rows(
        `select convert_from(d.body, 'utf8') as body from webhook_events join webhook_deliveries d using (source, event_id)
         where payment_id = $1 and event_type = 'payment.captured'`,
        paymentId,
      );
      expect(delivery?.body).toMatch(new RegExp(`"amount":\\s*${amount},`));

      const extra = `pay_extra_${currency}`;
      await control(sim, 'POST', '/payments', { payment_id: extra, order_id: orderId, amount, currency });
      await eventually('its refund', async () => {
        const { data } = await atGateway(`/refunds?payment_id=${extra}`);
        return data[0]?.amount === amount;
      });
      expect((await atGateway(`/refunds?payment_id=${paymentId}`)).data).toEqual([]);
    },
  );
});

describe.skipIf(stripe === null)('the whole system, in the end', () => {
  it('has found the refund of the worker that was killed, and has not made it a second time', async () => {
    await refundedOnce(interrupted.orderId, interrupted.extra, 60_000);
    expect(createsOf(interrupted.extra)).toBe(1);
  }, 70_000);

  it('has refunded no payment that counts and every other one once, and its books are right', async () => {
    await eventually('every event and every refund settled', async () => {
      const [open] = await system.rows(
        `select (select count(*) from webhook_events where state = 'pending')
              + (select count(*) from refunds where status <> 'succeeded') as n`,
      );
      return Number(open?.n) === 0;
    });
    for (const paymentId of captured) {
      expect(await refundsAtStripe(paymentId), paymentId).toHaveLength(kept.has(paymentId) ? 0 : 1);
    }
    expect(await system.rows('select * from dead_letters')).toEqual([]);
    expect(await runAudit(system.database.pool)).toMatchObject({ ok: true, violations: [] });
  });
});
