import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { listOf } from '../../src/api/schemas/common.ts';
import { deadLetter, event as eventSchema, fullEvent } from '../../src/api/schemas/operations.ts';
import { checkout as checkoutSchema } from '../../src/api/schemas/order.ts';
import { confirmation, payment as paymentSchema, timeline } from '../../src/api/schemas/payment.ts';
import { createHttpClient, createWorkflowClient, type NewOrder } from '../../src/client/index.ts';
import { rotateApiKey } from '../../src/database/rotate-api-key.ts';
import { freePorts } from '../../src/stack/ports.ts';
import { type ApiCaller, apiCaller } from '../support/api-client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { simSettings, startProcess, type SimSettings, type TestProcess } from '../support/processes.ts';
import { signedWebhook } from '../support/signed-webhook.ts';
import { control } from '../support/simulator.ts';
import { createTestNamespace, type TestNamespace } from '../support/temporal.ts';

let database: TestDatabase;
let namespace: TestNamespace;
let sim: SimSettings;
let server: TestProcess;
let shop: ApiCaller;
const folder = mkdtempSync(join(tmpdir(), 'paidonce-api-'));

beforeAll(async () => {
  [database, namespace, sim] = await Promise.all([createTestDatabase(), createTestNamespace(), simSettings()]);
  const configFile = join(folder, 'paidonce.yaml');
  writeFileSync(configFile, 'policies: {idempotency_lease: 7s}\n');
  const [port = 0] = await freePorts(1);
  const { address, namespace: name } = namespace;
  const settings = {
    ...{ databaseUrl: database.url, temporal: { address, namespace: name }, sim, configFile },
    webhookUrl: `http://127.0.0.1:${port}/webhooks/sim`,
    env: { LOG_LEVEL: 'warn', TEMPORAL_UI_URL: 'http://127.0.0.1:8233', SIMULATOR_STATE_FILE: 'none' },
  };
  [server] = await Promise.all([
    startProcess('server', { ...settings, port }),
    startProcess('worker', settings),
    startProcess('simulator', settings),
  ]);
  shop = await apiCaller(database, server.url);
});
afterEach(async () => {
  await control(sim, 'PUT', '/faults', {});
});
afterAll(async () => {
  await namespace.close();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** How many checkouts of an order are reserved. */
const reserved = async (orderId: string) =>
  (await database.pool.query('select 1 from checkouts where order_id = $1', [orderId])).rowCount;

const key = () => ({ 'idempotency-key': randomUUID() });
let n = 0;
async function order(over: object = {}): Promise<string> {
  n += 1;
  const { body, status } = await shop.post(
    '/v1/orders',
    {
      ...{ id: `ord_${n}`, currency: 'EUR', amount: 4990, customer: { id: 'cus_1' } },
      lines: [{ id: 'l1', kind: 'booking', amount: 4990 }],
      ...over,
    },
    key(),
  );
  expect(status).toBe(201);
  return body.id;
}
/** A payment at the gateway, without its webhook unless asked for. */
async function pay(orderId: string, more: object = {}): Promise<string> {
  const asked = { order_id: orderId, amount: 4990, currency: 'EUR', status: 'captured', deliver: false, ...more };
  return (await control<{ payment_id: string }>(sim, 'POST', '/payments', asked)).payment_id;
}
const paid = async (orderId: string) =>
  expect.poll(async () => (await shop.get(`/v1/orders/${orderId}`)).body.status, { timeout: 20_000 }).toBe('paid');

describe('a checkout', () => {
  it('prepares a payment, whose capture pays the order, and everything of it can be seen', async () => {
    const orderId = await order();
    const made = await shop.post(
      `/v1/orders/${orderId}/checkout`,
      { source: 'sim', return_url: 'https://shop.example' },
      key(),
    );
    expect(made.status).toBe(201);
    expect(checkoutSchema.safeParse(made.body).error).toBeUndefined();
    const { payment_id: paymentId, checkout_url } = made.body;
    expect(checkout_url).toContain(paymentId);
    expect((await shop.get(`/v1/orders/${orderId}`)).body.status).toBe('payment_pending');

    await control(sim, 'POST', `/payments/${paymentId}/capture`);
    await paid(orderId);
    const payment = await shop.get(`/v1/payments/sim/${paymentId}`);
    expect(paymentSchema.safeParse(payment.body).error).toBeUndefined();
    expect(payment.body).toMatchObject({
      ...{ order_id: orderId, status: 'captured', amount: 4990, counted: true, outcome: 'marked_paid' },
      workflow_id: `payment:sim:${paymentId}`,
      temporal_url: expect.stringContaining(`/workflows/payment%3Asim%3A${paymentId}`),
    });
    await expect
      .poll(
        async () =>
          (await shop.get(`/v1/payments/sim/${paymentId}/timeline`)).body.data.map((entry: any) => entry.kind),
        {
          timeout: 10_000,
        },
      )
      .toEqual(expect.arrayContaining(['delivery', 'handed_over', 'decided', 'consequence', 'ledger', 'mail']));
    const told = await shop.get(`/v1/payments/sim/${paymentId}/timeline`);
    expect(timeline.safeParse(told.body).error).toBeUndefined();
    const times = told.body.data.map((entry: any) => entry.at);
    expect(times).toEqual(times.toSorted((a: string, b: string) => a.localeCompare(b)));
    const texts = told.body.data.map((entry: any) => entry.text).join('\n');
    for (const thing of ['marked_paid', 'booking l1', 'ledger ', 'receipt ', 'receipt not sent: no SMTP_URL'])
      expect(texts).toContain(thing);
  });

  it('is refused where there is nothing to pay, or nobody to pay it to', async () => {
    const orderId = await order();
    const ask = (id: string, body: object) => shop.post(`/v1/orders/${id}/checkout`, body, key());
    expect(await ask('nothing', { source: 'sim' })).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await ask(orderId, { source: 'other', return_url: 'javascript:alert(1)' })).toMatchObject({ status: 422 });
    expect(await ask(orderId, { source: 'other' })).toMatchObject({
      status: 422,
      body: { errors: [{ path: 'source' }] },
    });
    await shop.post(`/v1/orders/${orderId}/cancel`);
    expect(await ask(orderId, { source: 'sim' })).toMatchObject({ status: 409, body: { code: 'order_not_payable' } });
    const { rows } = await database.pool.query('select 1 from checkouts where order_id = $1', [orderId]);
    expect(rows).toEqual([]);
  });

  it('at a silent gateway is answered 202 with where to look, and 409 while it still runs', async () => {
    const orderId = await order();
    await control(sim, 'PUT', '/faults', { slow_ms: { calls: ['payments'], ms: [7_000, 7_000] } });
    const headers = key();
    const path = `/v1/orders/${orderId}/checkout`;
    const first = shop.post(path, { source: 'sim' }, headers);
    await expect.poll(() => reserved(orderId)).toBe(1);
    expect((await shop.post(path, { source: 'sim' }, headers)).body.code).toBe('request_in_progress');
    const answered = await first;
    expect(answered.status).toBe(202);
    expect(answered.headers.get('retry-after')).toBeTruthy();
    const again = await shop.post(path, { source: 'sim' }, headers);
    expect(again.text).toBe(answered.text);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.headers.get('location')).toBe(answered.headers.get('location'));
    await expect
      .poll(async () => (await shop.get(answered.headers.get('location') ?? '')).body.status, { timeout: 25_000 })
      .toBe('succeeded');
  }, 60_000);

  it('whose process was killed in between is completed from its reservation, once', async () => {
    const orderId = await order();
    await control(sim, 'PUT', '/faults', { slow_ms: { calls: ['payments'], ms: [2_000, 2_000] } });
    const headers = key();
    const path = `/v1/orders/${orderId}/checkout`;
    const first = shop.post(path, { source: 'sim' }, headers).catch(() => null);
    await expect.poll(() => reserved(orderId)).toBe(1);
    await server.kill('SIGKILL');
    expect(await first).toBeNull();
    await server.restart();
    // 409 until the lease is over, then the truth.
    await expect
      .poll(async () => (await shop.post(path, { source: 'sim' }, headers)).status, { timeout: 20_000 })
      .toBe(201);
    const { rows } = await database.pool.query('select payment_id from checkouts where order_id = $1', [orderId]);
    expect(rows).toEqual([{ payment_id: expect.any(String) }]);
    const { payments } = await control<{ payments: { order_id: string }[] }>(sim, 'GET', '/state');
    expect(payments.filter((payment) => payment.order_id === orderId)).toHaveLength(1);
  }, 90_000);
});

describe('a confirm call', () => {
  it('pays without any webhook; of five at once one has marked it paid', async () => {
    const orderId = await order();
    const paymentId = await pay(orderId);
    const answers = await Promise.all(
      Array.from({ length: 5 }, async () => shop.post(`/v1/payments/sim/${paymentId}/confirm`)),
    );
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(confirmation.safeParse(body).error).toBeUndefined();
      expect(body.order.status).toBe('paid');
    }
    const outcomes = answers.map(({ body }) => body.outcome).toSorted((a: string, b: string) => a.localeCompare(b));
    expect(outcomes).toEqual([...Array(4).fill('already_paid_same_payment'), 'marked_paid']);
  });

  it('for a payment that the gateway does not know is pending, without an order', async () => {
    const began = performance.now();
    expect(await shop.post('/v1/payments/sim/pay_nobody/confirm')).toMatchObject({
      status: 200,
      body: { outcome: 'pending', order: null },
    });
    expect(performance.now() - began).toBeLessThan(6_000);
  });

  it('needs a source of ours and an id that can be one', async () => {
    expect(await shop.post('/v1/payments/other/pay_1/confirm')).toMatchObject({
      status: 404,
      body: { code: 'unknown_source' },
    });
    for (const id of ['a%20b', '%00', 'x'.repeat(201), '%F0%9F%98%80']) {
      expect(await shop.post(`/v1/payments/sim/${id}/confirm`)).toMatchObject({
        status: 422,
        body: { code: 'validation_failed' },
      });
      expect((await shop.get(`/v1/payments/sim/${id}`)).status).toBe(404);
    }
  });
});

describe('another service', () => {
  it('works through the typed clients', async () => {
    const apiKey = await rotateApiKey(database.url, { client: 'typed', scopes: ['orders'] });
    const client = createHttpClient({ baseUrl: `${server.url}/`, apiKey });
    const lines: NewOrder['lines'] = [{ id: 'l1', kind: 'product', amount: 4990 }];
    const asked = { id: 'ord/typed', currency: 'EUR', amount: 4990, customer: { id: 'c' }, lines };
    const made = await client.orders.create(asked, { idempotencyKey: 'typed:1' });
    expect(await client.orders.create(asked, { idempotencyKey: 'typed:1' })).toEqual(made);
    await expect(client.orders.create(asked, { idempotencyKey: 'typed:2' })).rejects.toMatchObject({
      ...{ name: 'PaidonceError', status: 409, code: 'order_exists', retryable: false },
    });
    const paymentId = await pay(made.id);
    expect((await client.payments.confirm('sim', paymentId)).outcome).toBe('marked_paid');
    expect((await client.orders.get(made.id)).status).toBe('paid');
    expect((await client.payments.get('sim', paymentId)).counted).toBe(true);
    expect(await client.payments.timeline('sim', paymentId)).not.toEqual([]);
    const workflows = createWorkflowClient(namespace.client.workflow);
    expect(await workflows.paymentState('sim', paymentId)).toMatchObject({ outcome: 'marked_paid', order_id: made.id });
  });
});

describe('a payment that only a caller spoke of', () => {
  it('is matched as soon as its order is made', async () => {
    n += 1;
    const paymentId = await pay(`ord_${n}`);
    expect((await shop.post(`/v1/payments/sim/${paymentId}/confirm`)).body).toEqual({
      outcome: 'pending',
      order: null,
    });
    n -= 1;
    const orderId = await order();
    await expect
      .poll(async () => (await shop.get(`/v1/orders/${orderId}`)).body.status, { timeout: 15_000 })
      .toBe('paid');
  });
});

describe('events', () => {
  it('that came before their order are matched as soon as it is made', async () => {
    n += 1;
    const paymentId = await pay(`ord_${n}`, { deliver: true });
    await expect
      .poll(async () => (await shop.get(`/v1/payments/sim/${paymentId}`)).body.status, { timeout: 10_000 })
      .toBe('captured');
    n -= 1;
    await paid(await order());
  });

  it('are listed page by page, filtered, shown with their bytes, and replayed without harm', async () => {
    const orderId = await order();
    const paymentId = await pay(orderId, { deliver: true });
    await paid(orderId);
    const all = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { status, body } = await shop.get(`/v1/events?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      expect(status).toBe(200);
      expect(listOf(eventSchema).safeParse(body).error).toBeUndefined();
      all.push(...body.data);
      cursor = body.next_cursor;
    }
    const { rows } = await database.pool.query('select count(*)::int as n from webhook_events');
    expect(new Set(all.map((event) => event.event_id)).size).toBe(rows[0].n);
    expect(all).toHaveLength(rows[0].n);

    const [mine] = (await shop.get(`/v1/events?payment_id=${paymentId}&state=processed&source=sim&order_id=${orderId}`))
      .body.data;
    expect(mine).toMatchObject({
      event_type: 'payment.captured',
      payment_id: paymentId,
      deliveries: [{ differs: false }],
    });
    const shown = (await shop.get(`/v1/events/sim/${mine.event_id}`)).body;
    expect(fullEvent.safeParse(shown).error).toBeUndefined();
    expect(JSON.parse(Buffer.from(shown.raw_base64, 'base64').toString()).data.payment_id).toBe(paymentId);
    expect(shown.headers['webhook-id']).toBe(mine.event_id);

    const before = (await shop.get(`/v1/orders/${orderId}`)).text;
    expect((await shop.post(`/v1/events/sim/${mine.event_id}/replay`)).status).toBe(202);
    await expect
      .poll(
        async () =>
          (await database.pool.query('select look_again_at from webhook_events where event_id = $1', [mine.event_id]))
            .rows[0],
        { timeout: 15_000 },
      )
      .toEqual({ look_again_at: null });
    expect((await shop.get(`/v1/orders/${orderId}`)).text).toBe(before);
  });

  it('that could not be understood when they came are read anew by a replay', async () => {
    const orderId = await order();
    const paymentId = await pay(orderId);
    const data = { payment_id: paymentId, order_id: orderId, status: 'captured', amount: 4990, currency: 'EUR' };
    const body = JSON.stringify({ type: 'payment.captured', timestamp: '2026-11-30T12:00:00Z', data });
    await database.pool.query(
      `insert into webhook_events (source, event_id, event_type, state, body_sha256, last_error)
       values ('sim', 'evt_mended', 'unreadable', 'held', sha256($1), 'unknown form')`,
      [Buffer.from(body)],
    );
    await database.pool.query(
      `insert into webhook_deliveries (source, event_id, body, headers) values ('sim', 'evt_mended', $1, '{"webhook-id": "evt_mended"}')`,
      [Buffer.from(body)],
    );
    const letter = 'event_unreadable:sim:evt_mended';
    await database.pool.query(
      `insert into dead_letters (id, kind, source, event_id, last_error) values ($1, 'event_unreadable', 'sim', 'evt_mended', 'x')`,
      [letter],
    );
    const { status, body: shown } = await shop.post('/v1/events/sim/evt_mended/replay');
    expect({ status, payment_id: shown.payment_id }).toEqual({ status: 202, payment_id: paymentId });
    await paid(orderId);
    expect((await shop.get('/v1/events/sim/evt_mended')).body.state).toBe('processed');
    expect((await shop.get(`/v1/dead-letters/${letter}`)).body).toMatchObject({
      status: 'recovered',
      choices: [],
    });
  });

  it.each([
    'limit=0',
    'limit=x',
    'state=odd',
    'from=yesterday',
    'stat=held',
    'cursor=abc',
    'limit=1&limit=2',
    'type=%00',
  ])('are not listed by a mistake: %s', async (query) => {
    expect(await shop.get(`/v1/events?${query}`)).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
  });

  it('that cannot be understood stand among the dead letters', async () => {
    const signed = signedWebhook(sim.webhookSecret, 'no JSON', { id: 'evt_unreadable' });
    await fetch(`${server.url}/webhooks/sim`, signed);
    const { body } = await shop.get('/v1/dead-letters?limit=200');
    expect(listOf(deadLetter).safeParse(body).error).toBeUndefined();
    const [letter] = body.data.filter((row: any) => row.event_id === 'evt_unreadable');
    expect(letter).toMatchObject({ kind: 'event_unreadable', status: 'open', choices: ['retry', 'give_up'] });
    expect((await shop.get(`/v1/dead-letters/${encodeURIComponent(letter.id)}`)).body).toEqual(letter);
    expect((await shop.post('/v1/events/sim/evt_unreadable/replay')).body.state).toBe('held');
    expect((await shop.get('/v1/dead-letters/nothing')).status).toBe(404);
    expect((await shop.post('/v1/dead-letters/nothing/decide', { action: 'retry', note: 'x' })).status).toBe(404);
    expect((await shop.get('/v1/events/sim/nothing')).status).toBe(404);
  });
});

it('keeps every promise, by its own audit', async () => {
  const { status, body } = await shop.get('/v1/audit');
  expect(status).toBe(200);
  expect(body).toMatchObject({ ok: true, violations: [] });
});

it('is ready, and names what is not', async () => {
  const { status, body } = await shop.get('/readyz');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    status: 'ok',
    database: 'ok',
    migrations: 'ok',
    temporal: 'ok',
    relay: 'ok',
    mail: 'degraded',
    alerts: 'ok',
    alert_channels: ['log'],
  });
});
