import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAudit } from '../../src/database/audit.ts';
import type { SourceConfig } from '../../src/domain/source-config.ts';
import { createRazorpayGateway } from '../../src/gateways/razorpay/create-razorpay-gateway.ts';
import { eventually } from '../support/eventually.ts';
import { startGatewaySystem, type GatewaySystem } from '../support/gateway-system.ts';
import { startLosingProxy, type LosingProxy, type Loss } from '../support/losing-proxy.ts';
import { startRazorpayStandIn, type RazorpayStandIn, type StandInPayment } from '../support/razorpay-stand-in.ts';
import type { SeenRequest } from '../support/scripted-server.ts';

const SECRET = 'the new secret';
const OLD_SECRET = 'the old secret';
/** When the secret was changed. */
const CHANGED = Date.parse('2026-11-01T00:00:00Z') / 1000;
const DUE = 50_000;

let razorpay: RazorpayStandIn;
let proxy: LosingProxy;
let system: GatewaySystem;
let account: { kind: 'razorpay'; mode: 'test'; api_base: string; api_key: string };

beforeAll(async () => {
  razorpay = await startRazorpayStandIn();
  proxy = await startLosingProxy(razorpay.url);
  account = { kind: 'razorpay', mode: 'test', api_base: proxy.url, api_key: razorpay.apiKey };
  const webhook_secrets = [{ secret: SECRET }, { secret: OLD_SECRET, events_before: '2026-11-01T00:00:00Z' }];
  system = await startGatewaySystem([{ name: 'razorpay', ...account, webhook_secrets }]);
});

afterAll(async () => {
  await system.close();
  await Promise.all([proxy.close(), razorpay.close()]);
});

interface Sending {
  readonly type?: string;
  readonly eventId?: string;
  readonly secret?: string;
  /** Seconds, as Razorpay tells it. */
  readonly at?: number;
  readonly payload?: Record<string, object>;
}

let events = 0;

async function send(payment: StandInPayment, sending: Sending = {}): Promise<{ status: number; body: any }> {
  const { type = 'payment.captured', secret = SECRET, at = CHANGED + 3600, payload = {} } = sending;
  const entities = Object.entries({ payment, ...payload }).map(([name, entity]) => [name, { entity }]);
  const event = {
    entity: 'event',
    account_id: 'acc_1',
    event: type,
    contains: Object.keys(payload),
    payload: Object.fromEntries(entities),
    created_at: at,
  };
  const { body, headers } = razorpay.sign(event, secret, sending.eventId);
  const url = `${system.server.url}/webhooks/razorpay`;
  const answer = await fetch(url, { method: 'POST', body: new Uint8Array(body), headers });
  return { status: answer.status, body: await answer.json() };
}

/** The customer pays at Razorpay's own checkout, and the webhook comes with an id. */
async function pay(orderId: string, more: Partial<StandInPayment> = {}): Promise<StandInPayment> {
  const payment = razorpay.addPayment({ amount: DUE, notes: { order_id: orderId }, ...more });
  expect((await send(payment, { eventId: `evt_${(events += 1)}` })).status).toBe(200);
  return payment;
}

async function paidOrder(): Promise<{ orderId: string; kept: StandInPayment }> {
  const orderId = await system.order({ currency: 'INR', amount: DUE });
  const kept = await pay(orderId);
  await paid(orderId);
  return { orderId, kept };
}

async function paid(orderId: string): Promise<any> {
  return system.orderThat('is paid', orderId, ({ status }) => status === 'paid');
}

function referenceOf(payment: StandInPayment): string {
  return `refund:extra_capture:razorpay:${payment.id}`;
}

/** What Razorpay has under our reference. */
function oursAtRazorpay({ id }: StandInPayment) {
  return razorpay.refunds.filter(
    ({ payment_id, notes }) => payment_id === id && !Array.isArray(notes) && 'paidonce_reference' in notes,
  );
}

async function refundedOnce(orderId: string, extra: StandInPayment, amount = DUE, limitMs?: number): Promise<any> {
  const ours = (order: any) => order.refunds.find(({ kind }: any) => kind === 'extra_capture');
  const order = await system.orderThat(
    ...['has refunded what was too much', orderId, (seen: any) => ours(seen)?.status === 'succeeded', limitMs],
  );
  expect(oursAtRazorpay(extra)).toMatchObject([{ amount, notes: { paidonce_reference: referenceOf(extra) } }]);
  const gateway_refund_id = oursAtRazorpay(extra)[0]?.id;
  expect(ours(order)).toMatchObject({ payment_id: extra.id, amount, gateway_refund_id });
  expect(order).toMatchObject({ status: 'paid', amount_paid: DUE, amount_refunded: 0 });
  expect(order.paid_payment_id).not.toBe(extra.id);
  return order;
}

function createOf({ id }: StandInPayment) {
  return ({ method, path }: SeenRequest): boolean => method === 'POST' && path === `/v1/payments/${id}/refund`;
}

/** Its end is seen last: half a minute lies between the look that found nothing and the create that follows. */
let atWork: { orderId: string; extra: StandInPayment; release: () => void };

describe('the whole system, with a stand-in of Razorpay', () => {
  it('a refund stays at work at Razorpay for longer than anybody waits for it', async () => {
    const { orderId } = await paidOrder();
    const release = razorpay.holdNextRefund();
    const extra = await pay(orderId);
    atWork = { orderId, extra, release };
    await eventually('its request', () => Promise.resolve(razorpay.requests.some(createOf(extra))));
    expect(oursAtRazorpay(extra)).toEqual([]);
  });

  it('a captured payment pays its order once, however often and under whatever id its event comes', async () => {
    const orderId = await system.order({ currency: 'INR', amount: DUE });
    const payment = razorpay.addPayment({ amount: DUE, notes: { order_id: orderId } });
    const derived = `payment.captured:${payment.id}:captured:${CHANGED + 3600}`;
    const answers = [
      await send(payment, { eventId: 'evt_named' }),
      await send(payment, { eventId: 'evt_named' }),
      await send(payment),
      await send(payment),
      await send(payment, { type: 'order.paid', eventId: 'evt_order' }),
      await send(payment, { type: 'payment.authorized', at: CHANGED + 3599 }),
    ];
    expect(answers.map(({ status, body }) => [status, body.event_id, body.duplicate])).toEqual([
      [200, 'evt_named', false],
      [200, 'evt_named', true],
      [200, derived, false],
      [200, derived, true],
      [200, 'evt_order', false],
      [200, `payment.authorized:${payment.id}:authorized:${CHANGED + 3599}`, false],
    ]);
    await system.settled(payment.id, answers.length);
    const order = await paid(orderId);
    expect(order).toMatchObject({ paid_payment_id: payment.id, amount_paid: DUE, surplus: 0, refunds: [] });
    expect(order.consequences).toMatchObject({
      bookings: [{ line_id: 'l1', status: 'confirmed' }],
      loyalty: [{ payment_id: payment.id, points: 500 }],
      invoices: [{ kind: 'invoice', amount: DUE }],
    });
    const outcomes = await system.rows(
      `select p.outcome from webhook_events e join processed_events p on p.event_id = e.source || ':' || replace(replace(e.event_id, '%', '%25'), ':', '%3A')
       where e.payment_id = $1 order by 1`,
      payment.id,
    );
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      ...Array<string>(3).fill('already_paid_same_payment'),
      'marked_paid',
    ]);
  });

  it('an authorization that goes back because nobody captured it is no refund, and nothing waits for a capture', async () => {
    const orderId = await system.order({ currency: 'INR', amount: DUE });
    const gone = { amount: DUE, amount_refunded: DUE, status: 'refunded', captured: false } as const;
    const payment = razorpay.addPayment({ ...gone, notes: { order_id: orderId } });
    const refund = {
      id: 'rfnd_auto',
      entity: 'refund',
      amount: DUE,
      currency: 'INR',
      payment_id: payment.id,
      notes: [],
    };
    for (const type of ['refund.created', 'refund.processed']) {
      await send(payment, {
        type,
        eventId: `evt_auto_${type}`,
        payload: { refund: { ...refund, status: 'processed' } },
      });
    }
    await system.settled(payment.id, 2);
    const held = await system.rows(
      `select * from webhook_events where payment_id = $1 and state <> 'processed'`,
      payment.id,
    );
    expect(held).toEqual([]);
    expect((await system.shop.get(`/v1/orders/${orderId}`)).body).toMatchObject({
      status: 'failed_final',
      refunds: [],
    });
    razorpay.payments.delete(payment.id);
  });

  it('an older secret holds for the retries of older events and for nothing else', async () => {
    const orderId = await system.order({ currency: 'INR', amount: DUE });
    const payment = razorpay.addPayment({ amount: DUE, notes: { order_id: orderId } });
    for (const [secret, at] of [
      [OLD_SECRET, CHANGED],
      ['no secret of theirs', CHANGED - 1],
    ] as const) {
      const refused = await send(payment, { secret, at, eventId: 'evt_forged' });
      expect(refused).toMatchObject({ status: 401, body: { code: 'invalid_signature' } });
    }
    expect((await system.shop.get(`/v1/orders/${orderId}`)).body.status).toBe('pending_payment');
    expect(await send(payment, { secret: OLD_SECRET, at: CHANGED - 1, eventId: 'evt_retried' })).toMatchObject({
      status: 200,
      body: { duplicate: false },
    });
    expect(await paid(orderId)).toMatchObject({ paid_payment_id: payment.id });
  });

  it('a second payment is refunded once, and what Razorpay then tells of it changes nothing', async () => {
    const { orderId } = await paidOrder();
    const extra = await pay(orderId);
    const before = await refundedOnce(orderId, extra);
    const [refund] = oursAtRazorpay(extra);
    const of = { payload: { refund: refund ?? {} } };
    await send(extra, { type: 'refund.processed', eventId: 'evt_processed', ...of });
    await send(extra, { type: 'refund.created', eventId: 'evt_created', ...of });
    await send(extra, { type: 'refund.processed', ...of });
    await system.settled(extra.id, 4);
    expect((await system.shop.get(`/v1/orders/${orderId}`)).body).toEqual(before);
    expect(oursAtRazorpay(extra)).toHaveLength(1);
  });

  it.each<Loss>(['cut', 'half', 'swallow'])('a refund whose answer is lost (%s) is found by a look', async (how) => {
    const { orderId } = await paidOrder();
    const extra = razorpay.addPayment({ amount: DUE, notes: { order_id: orderId } });
    const done = proxy.loseNext(createOf(extra), how);
    await send(extra, { eventId: `evt_lost_${how}` });
    await done;
    await refundedOnce(orderId, extra, DUE, 20_000);
    expect(proxy.passed.filter(createOf(extra))).toHaveLength(1);
  });

  it('a refund that is told "still running" is not sent again, and found when it is through', async () => {
    const { orderId } = await paidOrder();
    const extra = razorpay.addPayment({ amount: DUE, notes: { order_id: orderId } });
    // What an attempt leaves behind whose process died: Razorpay still works at it, under our key.
    const release = razorpay.holdNextRefund();
    const config: SourceConfig = {
      ...{ name: 'razorpay', kind: 'razorpay', mode: 'test', apiBase: razorpay.url, apiKey: razorpay.apiKey },
      ...{ accountNumber: null, webhookSecrets: [] },
    };
    const reference = referenceOf(extra);
    const first = createRazorpayGateway(config).createRefund({
      ...{ paymentId: extra.id, amount: BigInt(DUE), currency: 'INR', reference, idempotencyKey: reference },
    });
    await eventually('the first request', () => Promise.resolve(razorpay.requests.some(createOf(extra))));
    await send(extra, { eventId: 'evt_running' });
    await eventually('the second', () => Promise.resolve(proxy.passed.some(createOf(extra))));
    expect(proxy.passed.find(createOf(extra))?.status).toBe(409);
    release();
    await first;
    await refundedOnce(orderId, extra, DUE, 45_000);
    expect(proxy.passed.filter(createOf(extra))).toHaveLength(1);
  }, 60_000);

  it('of a payment with pages of refunds by others the rest is refunded, once, although its answer is lost', async () => {
    const { orderId } = await paidOrder();
    const extra = razorpay.addPayment({ amount: DUE, notes: { order_id: orderId } });
    const others = 12;
    for (let n = 0; n < others; n++) await refundAtDashboard(extra, 100);
    const rest = DUE - others * 100;
    // Behind a page of younger ones, which came to nothing: Razorpay lists the youngest first.
    const done = proxy.loseNext(createOf(extra), 'cut', async () => {
      const [ours] = oursAtRazorpay(extra);
      for (let n = 0; n < 110; n++) {
        const failed = { id: `rfnd_failed_${n}`, status: 'failed', amount: 100, notes: [], receipt: null } as const;
        if (ours !== undefined) razorpay.refunds.push({ ...ours, ...failed, notes: [] });
      }
    });
    await send(extra, { eventId: 'evt_pages' });
    await done;
    const order = await refundedOnce(orderId, extra, rest);
    expect(proxy.passed.filter(createOf(extra))).toHaveLength(1);
    expect(order.refunds.filter(({ kind, status }: any) => kind === 'gateway' && status === 'succeeded')).toHaveLength(
      others,
    );
  });

  async function refundAtDashboard({ id }: StandInPayment, amount: number): Promise<void> {
    const authorization = `Basic ${Buffer.from(razorpay.apiKey).toString('base64')}`;
    const url = `${razorpay.url}/v1/payments/${id}/refund`;
    const answer = await fetch(url, { method: 'POST', headers: { authorization }, body: JSON.stringify({ amount }) });
    expect(answer.status).toBe(200);
  }

  it('the refund that stayed at work is sent again under its own key alone, and exists once', async () => {
    const { orderId, extra, release } = atWork;
    await eventually(
      'the second request',
      () => Promise.resolve(proxy.passed.some((request) => createOf(extra)(request) && request.status === 409)),
      60_000,
    );
    release();
    await refundedOnce(orderId, extra, DUE, 40_000);
    const requests = razorpay.requests.filter(createOf(extra));
    const keys = new Set(requests.map(({ headers, body }) => `${String(headers['x-refund-idempotency'])} ${body}`));
    expect(keys.size).toBe(1);
  }, 110_000);

  it('in the end no payment that counts was refunded, every other one once, and the books are right', async () => {
    await eventually('every event and every refund settled', async () => {
      const [open] = await system.rows(
        `select (select count(*) from webhook_events where state = 'pending')
              + (select count(*) from refunds where status not in ('succeeded', 'failed')) as n`,
      );
      return Number(open?.n) === 0;
    });
    const kept = new Set((await system.rows('select payment_id from order_payments')).map((row) => row.payment_id));
    for (const payment of razorpay.payments.values()) {
      expect(payment.amount_refunded, payment.id).toBe(kept.has(payment.id) ? 0 : DUE);
      expect(oursAtRazorpay(payment), payment.id).toHaveLength(kept.has(payment.id) ? 0 : 1);
    }
    expect(await system.rows('select * from dead_letters')).toEqual([]);
    expect(await runAudit(system.database.pool)).toMatchObject({ ok: true, violations: [] });
  });
});
