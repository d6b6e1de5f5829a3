import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { order as orderSchema } from '../../src/api/schemas/order.ts';
import { createPool } from '../../src/database/pool.ts';
import { rotateApiKey } from '../../src/database/rotate-api-key.ts';
import { freePorts } from '../../src/stack/ports.ts';
import { ALL_SCOPES, type ApiCaller, apiCaller, callerWithKey } from '../support/api-client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startProcess, type TestProcess } from '../support/processes.ts';

let database: TestDatabase;
let servers: TestProcess[];
let shop: ApiCaller;

beforeAll(async () => {
  database = await createTestDatabase();
  const [deadPort = 0] = await freePorts(1);
  const temporal = { address: `127.0.0.1:${deadPort}`, namespace: 'default' };
  const settings = { databaseUrl: database.url, temporal, env: { LOG_LEVEL: 'warn' } };
  servers = await Promise.all([startProcess('server', settings), startProcess('server', settings)]);
  shop = await apiCaller(database, url());
});
afterAll(async () => {
  await Promise.all(servers.map(async (server) => server.kill('SIGTERM')));
  await database.drop();
});

const url = (n = 0): string => servers[n]?.url ?? '';
const key = (value: string = randomUUID()) => ({ 'idempotency-key': value });
const newOrder = (over: object = {}) => ({
  currency: 'EUR',
  amount: 4990,
  customer: { id: 'cus_1', email: 'a@example.com', name: 'Ñandú 😊' },
  lines: [
    { id: 'l1', kind: 'booking', amount: 5490, reference: 'table 4' },
    { id: 'l2', kind: 'discount', amount: -500 },
  ],
  ...over,
});

describe('who may call', () => {
  it.each([
    ['nothing', {}],
    ['another scheme', { authorization: 'Basic abc' }],
    ['an unknown key', { authorization: 'Bearer po_nobody' }],
    ['an empty key', { authorization: 'Bearer ' }],
    ['a key of 50 KB', { authorization: `Bearer ${'x'.repeat(50_000)}` }],
  ])('is refused with %s', async (_name, headers: Record<string, string>) => {
    const response = await fetch(`${url()}/v1/orders/x`, { headers });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(await response.json()).toMatchObject({
      code: 'unauthenticated',
      status: 401,
      request_id: expect.any(String),
    });
  });

  it('needs the scope of the route', async () => {
    const reader = await apiCaller(database, url(), 'reader', ['ops:read']);
    expect(await reader.get('/v1/orders/x')).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } });
    expect((await reader.get('/v1/events')).status).toBe(200);
  });

  it('is told of routes and methods that are not there', async () => {
    expect(await shop.get('/v1/nothing')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await shop.get('/v1/orders')).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
    expect(await shop.get('/v1/orders/%zz')).toMatchObject({ status: 400, body: { code: 'malformed_request' } });
    expect(await shop.get('/v1/orders/%00')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const asked = await fetch(`${url()}/v1/orders/import`, { method: 'OPTIONS' });
    expect([asked.status, asked.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('learns of no route without a key, there or not', async () => {
    for (const path of ['/v1', '/v1/', '/v1/nothing', '/v1/orders/x/nothing']) {
      expect([path, (await fetch(`${url()}${path}`)).status]).toEqual([path, 401]);
      expect([path, (await shop.get(path)).status]).toEqual([path, 404]);
    }
  });

  it('is answered like everybody where what was sent is no HTTP', async () => {
    const { port } = new URL(url());
    const socket = connect(Number(port), '127.0.0.1');
    socket.end('GET /v1/orders/x HTTP/1.1\r\nhost: a\r\nidempotency-key: a\x01b\r\n\r\n');
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 400 .*content-type: application\/problem\+json/s);
    expect(JSON.parse(body)).toMatchObject({ code: 'malformed_request', status: 400, request_id: expect.any(String) });
  });
});

describe('an order', () => {
  it('is made whole, shown the same afterwards, and has the documented form', async () => {
    const made = await shop.post('/v1/orders', newOrder({ id: 'ord/1:%' }), key());
    expect(made.status).toBe(201);
    expect(orderSchema.safeParse(made.body).error).toBeUndefined();
    expect(made.body).toMatchObject({
      id: 'ord/1:%',
      status: 'pending_payment',
      amount_due: 4990,
      amount_paid: 0,
      surplus: 0,
      lines: [
        { id: 'l1', kind: 'booking', amount: 5490, quantity: 1, reference: 'table 4' },
        { id: 'l2', kind: 'discount', amount: -500, quantity: 1, reference: null },
      ],
      payments: [],
      consequences: { bookings: [], invoices: [] },
    });
    const shown = await shop.get(`/v1/orders/${encodeURIComponent('ord/1:%')}`);
    expect(shown.text).toBe(made.text);
    expect(made.headers.get('location')).toBe(`/v1/orders/${encodeURIComponent('ord/1:%')}`);
  });

  it('gets an id of its own where none is given, and expires by the outbox', async () => {
    const { body } = await shop.post('/v1/orders', newOrder({ expires_at: '2030-01-01T00:00:00+01:00' }), key());
    expect(body.id).toMatch(/^ord_[0-9a-f]{24}$/);
    expect(body.expires_at).toBe('2029-12-31T23:00:00.000Z');
    const { rows } = await database.pool.query('select event_type, payload from outbox where aggregate_id = $1', [
      body.id,
    ]);
    expect(rows).toEqual([
      { event_type: 'order.expiry_requested', payload: { order_id: body.id, expires_at: '2029-12-31T23:00:00.000Z' } },
    ]);
  });

  it('is refused where its id is taken', async () => {
    await shop.post('/v1/orders', newOrder({ id: 'ord_taken' }), key());
    const again = key();
    expect(await shop.post('/v1/orders', newOrder({ id: 'ord_taken' }), again)).toMatchObject({
      status: 409,
      body: { code: 'order_exists' },
    });
    // A refusal is not remembered under the key.
    expect((await shop.post('/v1/orders', newOrder(), again)).status).toBe(201);
  });

  it('is cancelled, and cancelled again', async () => {
    const { body } = await shop.post('/v1/orders', newOrder(), key());
    for (let times = 0; times < 2; times += 1) {
      expect(await shop.post(`/v1/orders/${body.id}/cancel`)).toMatchObject({
        status: 200,
        body: { status: 'cancelled' },
      });
    }
    await database.pool.query(
      `insert into orders (id, status, currency, amount_due, amount_paid, customer_id, paid_at, paid_source, paid_payment_id, created_by)
       values ('ord_paid', 'paid', 'EUR', 1, 1, 'c', now(), 'sim', 'p', 't')`,
    );
    expect(await shop.post('/v1/orders/ord_paid/cancel')).toMatchObject({
      status: 409,
      body: { code: 'order_not_cancellable' },
    });
    expect((await shop.post('/v1/orders/nothing/cancel')).status).toBe(404);
  });

  it('counts what is known of its payments already, and wakes the events that waited', async () => {
    await database.pool.query(
      `insert into payments (source, payment_id, order_id, status, waiting_for) values
         ('sim', 'pay_w', 'ord_w', 'captured', 'order'), ('sim', 'pay_f', 'ord_f', 'failed', null);
       insert into webhook_events (source, event_id, event_type, payment_id, order_id, state, body_sha256, handed_over_at, next_look_at) values
         ('sim', 'evt_w', 'payment.captured', 'pay_w', 'ord_w', 'pending', '', now(), now() + interval '1 hour'),
         ('sim', 'evt_h', 'payment.captured', 'pay_h', 'ord_w', 'held', '', now(), null),
         ('sim', 'evt_x', 'payment.captured', 'pay_x', 'ord_w', 'held', '', now(), null),
         ('sim', 'evt_p', 'payment.captured', 'pay_w', 'ord_w', 'processed', '', now(), null);
       insert into dead_letters (id, kind, source, payment_id, last_error) values ('d1', 'unmatched_payment', 'sim', 'pay_h', 'x')`,
    );
    expect((await shop.post('/v1/orders', newOrder({ id: 'ord_f' }), key())).body.status).toBe('failed_final');
    expect((await shop.post('/v1/orders', newOrder({ id: 'ord_w' }), key())).body.status).toBe('pending_payment');
    const { rows } = await database.pool.query(
      `select event_id from webhook_events
       where look_again_at is not null and handed_over_at is null and next_look_at is null order by 1`,
    );
    expect(rows.map((row) => row.event_id)).toEqual(['evt_h', 'evt_w']);
  });
});

describe('mistakes in a request', () => {
  const refused = async (body: unknown): Promise<Record<string, string>> => {
    const { status, body: problem } = await shop.post('/v1/orders', body, key());
    expect({ status, code: problem.code }).toEqual({ status: 422, code: 'validation_failed' });
    return Object.fromEntries(
      problem.errors.map((error: { path: string; message: string }) => [error.path, error.message]),
    );
  };

  it('are all told at once', async () => {
    const paths = await refused({
      id: 'with space',
      currency: 'ABC',
      amount: 0,
      customer: { email: 'nobody' },
      lines: [
        { id: 'a', kind: 'booking', amount: -1, quantity: 0 },
        { id: 'a', kind: 'discount', amount: 5 },
        { id: 'c', kind: 'dress', amount: 1.5 },
      ],
      expires_at: 'tomorrow',
      expires: 1,
    });
    expect(Object.keys(paths).sort()).toEqual(
      [
        ...['amount', 'currency', 'customer.email', 'customer.id', 'expires', 'expires_at', 'id'],
        ...[
          'lines[0].amount',
          'lines[0].quantity',
          'lines[1].amount',
          'lines[1].id',
          'lines[2].amount',
          'lines[2].kind',
        ],
      ].sort(),
    );
  });

  it.each(['9007199254740993', '4990.0', '4.99e3', '4990.00000000000000001', '"4990"', 'null', '-1', '1e400'])(
    'an amount of %s is refused, never rounded',
    async (literal) => {
      expect(await refused(JSON.stringify(newOrder()).replace('"amount":4990', `"amount":${literal}`))).toHaveProperty(
        'amount',
      );
    },
  );

  it('the largest exact amount is exact', async () => {
    const most = Number.MAX_SAFE_INTEGER;
    const { text } = await shop.post(
      '/v1/orders',
      newOrder({ amount: most, lines: [{ id: 'l', kind: 'product', amount: most }] }),
      key(),
    );
    expect(text).toContain('"amount_due":9007199254740991,');
  });

  it('lines must add up', async () => {
    expect(await refused(newOrder({ amount: 4991 }))).toEqual({
      amount: 'must be the sum of the lines, which is 4990',
    });
  });

  it.each(['a\0b', 'a\ud83d', '\udc00'])('NUL and half a pair are refused in any text', async (text) => {
    const json = JSON.stringify(newOrder({ customer: { id: text, name: text } }));
    expect(Object.keys(await refused(json))).toEqual(['customer.id', 'customer.name']);
    expect(await refused({ ...newOrder(), [text]: 1 })).toBeDefined();
  });

  it.each([
    '',
    '{',
    'nope',
    '{"a":1}}',
    '\ufeff{}',
    `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
    `{"a":${'{"a":'.repeat(100)}1${'}'.repeat(100)}}`,
  ])('a body that is no JSON is malformed: %#', async (body) => {
    expect(await shop.post('/v1/orders', body, key())).toMatchObject({
      status: 400,
      body: { code: 'malformed_request' },
    });
  });

  it.each(['[]', '1', 'null', '"x"', '{}', '{"__proto__":{"amount":1}}'])(
    'JSON of another form is refused: %s',
    async (body) => {
      expect((await shop.post('/v1/orders', body, key())).status).toBe(422);
    },
  );
});

describe('an Idempotency-Key', () => {
  it.each([
    ['missing', {}, 'idempotency_key_required'],
    ['blank', key(''), 'idempotency_key_invalid'],
    ['with a space', key('a b'), 'idempotency_key_invalid'],
    ['too long', key('x'.repeat(256)), 'idempotency_key_invalid'],
    ['not ASCII', key('\u00e9'), 'idempotency_key_invalid'],
  ])('that is %s is refused', async (_name, headers: Record<string, string>, code) => {
    expect(await shop.post('/v1/orders', newOrder(), headers)).toMatchObject({ status: 400, body: { code } });
  });

  it('makes one order of twenty requests at once at two processes, each answered byte for byte the same', async () => {
    const headers = key();
    const other = callerWithKey(
      url(1),
      await rotateApiKey(database.url, { client: 'shop', scopes: null, overlapSeconds: 600 }),
    );
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, k) => (k % 2 === 0 ? shop : other).post('/v1/orders', newOrder(), headers)),
    );
    expect(answers.map((answer) => answer.status)).toEqual(Array(20).fill(201));
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(answers.filter((answer) => answer.headers.get('idempotent-replayed') === 'true')).toHaveLength(19);
  });

  it('is the same request in whatever order and spacing its JSON is written', async () => {
    const headers = key();
    const { currency, ...rest } = newOrder();
    const first = await shop.post('/v1/orders', newOrder(), headers);
    const again = await shop.post('/v1/orders', JSON.stringify({ ...rest, currency }, null, 3), headers);
    expect(again).toMatchObject({ status: 201, text: first.text });
  });

  it.each([
    { amount: 1, lines: [{ id: 'l', kind: 'product', amount: 1 }] },
    { expires_at: '2031-01-01T00:00:00Z' },
    { amount: 1 },
  ])('with another request is refused, and the first answer stays: %j', async (over) => {
    const headers = key();
    const first = await shop.post('/v1/orders', newOrder({ expires_at: '2030-01-01T00:00:00Z' }), headers);
    expect(await shop.post('/v1/orders', newOrder(over), headers)).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused' },
    });
    expect((await shop.post('/v1/orders', newOrder({ expires_at: '2030-01-01T00:00:00Z' }), headers)).text).toBe(
      first.text,
    );
  });

  it('is case-sensitive, and nothing to another client', async () => {
    const other = await apiCaller(database, url(), 'other-shop', ['orders']);
    const first = await shop.post('/v1/orders', newOrder(), key('same-key'));
    const upper = await shop.post('/v1/orders', newOrder(), key('SAME-KEY'));
    const theirs = await other.post('/v1/orders', newOrder({ currency: 'USD' }), key('same-key'));
    expect([first.status, upper.status, theirs.status]).toEqual([201, 201, 201]);
    expect(new Set([first.body.id, upper.body.id, theirs.body.id]).size).toBe(3);
  });

  it('survives the rotation of the API key', async () => {
    const headers = key();
    const before = callerWithKey(url(), await rotateApiKey(database.url, { client: 'rotating', scopes: ALL_SCOPES }));
    const first = await before.post('/v1/orders', newOrder(), headers);
    const after = callerWithKey(url(1), await rotateApiKey(database.url, { client: 'rotating', scopes: null }));
    const again = await after.post('/v1/orders', newOrder(), headers);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await before.get('/v1/orders/x')).status).toBe(401);
  });
});

describe('while PostgreSQL cannot be had', () => {
  it('requests are answered 503 with Retry-After, nothing is stored, and the same key works afterwards', async () => {
    const headers = key();
    const address = new URL(database.url);
    address.pathname = '/postgres';
    const outside = createPool({ url: address.href, max: 1, applicationName: 'test' });
    await outside.query(`alter database ${database.name} with allow_connections false`);
    await outside.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database.name]);
    const refused = await shop.post('/v1/orders', newOrder(), headers);
    const ready = await fetch(`${url()}/readyz`);
    await outside.query(`alter database ${database.name} with allow_connections true`);
    await outside.end();
    expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(ready.status).toBe(503);
    expect((await shop.post('/v1/orders', newOrder(), headers)).headers.get('idempotent-replayed')).toBeNull();
  });
});
