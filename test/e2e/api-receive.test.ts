import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiCaller } from '../support/api-client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { simSettings, startProcess, type SimSettings, type TestProcess } from '../support/processes.ts';
import { signedWebhook } from '../support/signed-webhook.ts';
import { freePorts } from '../../src/stack/ports.ts';

let database: TestDatabase;
let sim: SimSettings;
let servers: TestProcess[];

beforeAll(async () => {
  database = await createTestDatabase();
  sim = await simSettings();
  const [deadPort = 0] = await freePorts(1);
  // No Temporal is there: an answer must not need it.
  const settings = {
    databaseUrl: database.url,
    temporal: { address: `127.0.0.1:${deadPort}`, namespace: 'default' },
    sim,
    env: { LOG_LEVEL: 'debug' },
  };
  servers = await Promise.all([startProcess('server', settings), startProcess('server', settings)]);
});
afterAll(async () => {
  await Promise.all(servers.map(async (server) => server.kill('SIGTERM')));
  await database.drop();
});

let n = 0;
const captured = (over: object = {}) => ({
  type: 'payment.captured',
  timestamp: '2026-11-30T12:00:00Z',
  data: { payment_id: 'pay_1', order_id: 'ord_1', status: 'captured', amount: 4990, currency: 'EUR', ...over },
});

async function post(
  body: string | Uint8Array | object,
  options: { id?: string; headers?: Record<string, string>; source?: string; server?: number; sent?: Uint8Array } = {},
): Promise<{ status: number; body: any; headers: Headers }> {
  n += 1;
  const signed = signedWebhook(sim.webhookSecret, body, { id: options.id ?? `evt_${n}` });
  const response = await fetch(`${servers[options.server ?? 0]?.url}/webhooks/${options.source ?? 'sim'}`, {
    ...signed,
    body: new Uint8Array(options.sent ?? signed.body),
    headers: { ...signed.headers, ...options.headers },
  });
  return { status: response.status, body: await response.json(), headers: response.headers };
}

async function stored(eventId: string): Promise<any> {
  const { rows } = await database.pool.query(
    `select e.*, (select json_agg(d.differs) from webhook_deliveries d where d.event_id = e.event_id) as deliveries,
            (select d.body from webhook_deliveries d where d.event_id = e.event_id limit 1) as body
     from webhook_events e where event_id = $1`,
    [eventId],
  );
  return rows[0];
}

describe('a delivery', () => {
  it('is one event with twenty deliveries when it comes twenty times at once at two processes', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, k) => post(captured(), { id: 'evt_twenty', server: k % 2 })),
    );
    expect(answers.map((answer) => answer.status)).toEqual(Array(20).fill(200));
    expect(answers.filter((answer) => answer.body.duplicate === false)).toHaveLength(1);
    expect(answers[0]?.body).toMatchObject({ received: true, event_id: 'evt_twenty' });
    expect((await stored('evt_twenty')).deliveries).toHaveLength(20);
  });

  it('is answered without Temporal, and left for the relay', async () => {
    await post(captured(), { id: 'evt_no_temporal' });
    expect(await stored('evt_no_temporal')).toMatchObject({ state: 'pending', handed_over_at: null });
  });

  it('keeps emoji and accents, and is verified over the bytes', async () => {
    const body = JSON.stringify(captured({ note: '😊 mañana' }));
    expect((await post(body, { id: 'evt_emoji' })).status).toBe(200);
    const row = await stored('evt_emoji');
    expect(row.payload.data.note).toBe('😊 mañana');
    expect(row.body.equals(Buffer.from(body))).toBe(true);
    expect(row.state).toBe('pending');
  });

  it.each([
    ['a BOM', Buffer.from(`\ufeff${JSON.stringify(captured())}`)],
    [
      'an invalid byte',
      Buffer.concat([Buffer.from('{"type":"payment.captured","x":"'), Buffer.from([0xff]), Buffer.from('"}')]),
    ],
    ['20,000 brackets', Buffer.from('['.repeat(20_000) + ']'.repeat(20_000))],
    [
      '20,000 brackets in a field',
      Buffer.from(JSON.stringify(captured({ x: '@' })).replace('"@"', '['.repeat(20_000) + ']'.repeat(20_000))),
    ],
    ['a number beyond all', Buffer.from(JSON.stringify(captured({ x: '@' })).replace('"@"', '1e999999'))],
    ['nothing at all', Buffer.alloc(0)],
    ['half a JSON', Buffer.from('{"type":')],
  ])('with %s is stored as it came and put before a person', async (name, body) => {
    const id = `evt_${name.replaceAll(' ', '_')}`;
    expect(await post(body, { id })).toMatchObject({ status: 200, body: { received: true, event_id: id } });
    const row = await stored(id);
    expect(row).toMatchObject({ state: 'held', payload: null });
    expect(row.body.equals(body)).toBe(true);
    const letters = await database.pool.query('select kind, last_error from dead_letters where event_id = $1', [id]);
    expect(letters.rows).toMatchObject([{ kind: 'event_unreadable' }]);
  });

  it('with NUL and half a pair is stored cleaned, in names and values, and its bytes as they came', async () => {
    const body = String.raw`{"type":"payment.captured","timestamp":"2026-11-30T12:00:00Z","data":{"payment_id":"pay_1","order_id":"ord_1","status":"captured","amount":1,"currency":"EUR","a\u0000b":"x\u0000y","half":"\ud83d!","pair":"\ud83d\ude0a","slash":"\\u0000"}}`;
    expect((await post(body, { id: 'evt_nul' })).status).toBe(200);
    const { payload, body: kept } = await stored('evt_nul');
    expect(payload.data).toMatchObject({ 'a\ufffdb': 'x\ufffdy', half: '\ufffd!', pair: '😊', slash: '\\u0000' });
    expect(kept.toString()).toBe(body);
  });

  it.each(['payment_id', 'order_id', 'status', 'currency', 'reference', 'type'])(
    'with NUL, half a pair or a very long text as its %s is answered 200 and not lost',
    async (field) => {
      for (const value of ['a\0b', 'a\ud83d', 'x'.repeat(100_000), '', ' ']) {
        const event = field === 'type' ? { ...captured(), type: value } : captured({ [field]: value });
        const { status, body } = await post(event);
        expect(status).toBe(200);
        expect(await stored(body.event_id)).toBeDefined();
      }
    },
  );

  it('with an id beyond what a key can be is kept under its hash, which the answer names', async () => {
    const id = 'x'.repeat(5_000);
    const first = await post(captured(), { id });
    expect(first.body.event_id).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect((await post(captured(), { id })).body).toEqual({ ...first.body, duplicate: true });
    expect(await stored(first.body.event_id)).toMatchObject({ state: 'pending' });
  });

  it('keeps a number that JavaScript would round', async () => {
    const body = JSON.stringify(captured({ x: '@' })).replace('"@"', '9007199254740993');
    await post(body, { id: 'evt_big' });
    const { rows } = await database.pool.query(
      `select payload->'data'->>'x' as x from webhook_events where event_id = 'evt_big'`,
    );
    expect(rows).toEqual([{ x: '9007199254740993' }]);
  });

  it('of the other mode is stored and ignored', async () => {
    await post(captured({ mode: 'live' }), { id: 'evt_live' });
    expect(await stored('evt_live')).toMatchObject({ state: 'ignored' });
  });

  it('of an unknown type is stored and ignored, with the reason', async () => {
    await post({ ...captured(), type: 'customer.created' }, { id: 'evt_unknown' });
    expect((await stored('evt_unknown')).outcome).toBeTruthy();
  });

  it('of a payout that is not ours is ignored as such, and of ours waits to be found', async () => {
    const payout = (reference?: string) => ({
      ...captured(),
      type: 'payout.paid',
      data: { payout_id: 'po_1', status: 'paid', amount: 1, currency: 'EUR', reference },
    });
    await post(payout('theirs'), { id: 'evt_payout' });
    expect(await stored('evt_payout')).toMatchObject({ state: 'ignored', outcome: "gateway's own payout" });
    await post(payout('payout:seller_1:2026-11-30'), { id: 'evt_payout_ours' });
    expect(await stored('evt_payout_ours')).toMatchObject({ state: 'pending' });
  });
});

describe('a body', () => {
  const plain = Buffer.from(JSON.stringify(captured()));

  it.each([
    ['gzip', gzipSync(plain)],
    ['GZIP', gzipSync(plain)],
    ['deflate', deflateSync(plain)],
    ['deflate', deflateRawSync(plain)],
    ['br', brotliCompressSync(plain)],
    ['utf-8', plain],
    ['identity', plain],
    ['gzip, utf-8', gzipSync(plain)],
  ])('in %s is inflated before it is verified, and kept inflated', async (encoding, sent) => {
    const { status, body } = await post(plain, { sent, headers: { 'content-encoding': encoding } });
    expect(status).toBe(200);
    expect((await stored(body.event_id)).body.equals(plain)).toBe(true);
  });

  it.each([
    ['an unknown encoding', 'zstd', plain, 415, 'unsupported_encoding'],
    ['a broken stream', 'gzip', gzipSync(plain).subarray(0, 30), 400, 'malformed_request'],
    ['bytes that are no gzip', 'gzip', plain, 400, 'malformed_request'],
    ['a bomb', 'gzip', gzipSync(Buffer.alloc(64 * 1024 * 1024)), 413, 'payload_too_large'],
    ['a bomb', 'br', brotliCompressSync(Buffer.alloc(64 * 1024 * 1024)), 413, 'payload_too_large'],
  ])('of %s (%s) is refused', async (_name, encoding, sent, status, code) => {
    const answer = await post(plain, { sent, headers: { 'content-encoding': encoding } });
    expect(answer).toMatchObject({ status, body: { code, status } });
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
  });

  it('of a megabyte passes, of nine is refused, whether or not its length is told', async () => {
    const note = 'x'.repeat(1024 * 1024);
    expect((await post(captured({ note }))).status).toBe(200);
    expect(await post(Buffer.alloc(9 * 1024 * 1024, 0x20))).toMatchObject({
      status: 413,
      body: { code: 'payload_too_large' },
    });
    const chunked = await fetch(`${servers[0]?.url}/webhooks/sim`, {
      method: 'POST',
      body: new Blob([Buffer.alloc(9 * 1024 * 1024)]).stream(),
      duplex: 'half',
    });
    expect(chunked.status).toBe(413);
  });
});

describe('a sender that is not the gateway', () => {
  it.each([
    ['no headers', { 'webhook-signature': '' }],
    ['garbage', { 'webhook-signature': 'garbage' }],
    ['a signature of wrong length', { 'webhook-signature': 'v1,YQ==' }],
    ['no base64', { 'webhook-signature': 'v1,%%%' }],
    ['100 KB', { 'webhook-signature': `v1,${'A'.repeat(100_000)}` }],
    ['odd bytes', { 'webhook-signature': 'v1,\u00e9\u00ff' }],
    ['two signatures', { 'webhook-signature': 'v1,YQ==, v1,YQ==' }],
    ['an old time', { 'webhook-timestamp': '1000000000' }],
    ['a future time', { 'webhook-timestamp': '9999999999' }],
    ['no time', { 'webhook-timestamp': 'soon' }],
  ])('is refused with 401: %s', async (_name, headers) => {
    expect(await post(captured(), { headers })).toMatchObject({ status: 401, body: { code: 'invalid_signature' } });
  });

  it('is counted by source and reason, with time and address, and no body', async () => {
    await post(captured(), { source: 'nobody' });
    await expect
      .poll(
        async () =>
          (
            await database.pool.query(
              `select source, reason, count::int, last_remote_address from webhook_refusals
               where source = 'unknown' or reason like 'invalid_signature:%' order by source desc limit 1`,
            )
          ).rows,
        { timeout: 15_000 },
      )
      .toEqual([{ source: 'unknown', reason: 'unknown_source', count: 1, last_remote_address: '127.0.0.1' }]);
  });

  it('finds no unknown source and no other method', async () => {
    expect(await post(captured(), { source: 'nobody' })).toMatchObject({
      status: 404,
      body: { code: 'unknown_source' },
    });
    expect(await post(captured(), { source: 'sim/x' })).toMatchObject({
      status: 404,
      body: { code: 'unknown_source' },
    });
    const get = await fetch(`${servers[0]?.url}/webhooks/sim`);
    expect(get.status).toBe(405);
    expect(get.headers.get('allow')).toBe('POST');
  });
});

describe('while Temporal is away', () => {
  it('the process is ready and says so, a confirm call has nothing to say, and a checkout waits for the relay', async () => {
    const shop = await apiCaller(database, servers[0]?.url ?? '');
    const key = { 'idempotency-key': 'k1' };
    const ready = await shop.get('/readyz');
    expect(ready).toMatchObject({ status: 200, body: { status: 'ok', temporal: 'degraded' } });
    const lines = [{ id: 'l', kind: 'product', amount: 5 }];
    const order = { id: 'ord_away', currency: 'EUR', amount: 5, customer: { id: 'c' }, lines };
    expect((await shop.post('/v1/orders', { ...order, expires_at: '2030-01-01T00:00:00Z' }, key)).status).toBe(201);
    const began = performance.now();
    const [confirmed, checkedOut] = await Promise.all([
      shop.post('/v1/payments/sim/pay_away/confirm'),
      shop.post('/v1/orders/ord_away/checkout', { source: 'sim' }, key),
    ]);
    expect(performance.now() - began).toBeLessThan(7_000);
    expect(confirmed).toMatchObject({ status: 200, body: { outcome: 'pending', order: null } });
    expect(checkedOut).toMatchObject({ status: 202, body: { status: 'pending', n: 1 } });
    const { rows } = await database.pool.query(
      `select event_type from outbox where published_at is null and payload->>'order_id' = 'ord_away' order by 1`,
    );
    expect(rows.map((row) => row.event_type)).toEqual(['checkout.requested', 'order.expiry_requested']);
  });
});

describe('while PostgreSQL cannot be had', () => {
  it('a delivery is answered 503 in time, and taken when it is sent again', async () => {
    const blocker = await database.pool.connect();
    await blocker.query('begin; lock table webhook_events in access exclusive mode');
    const began = performance.now();
    const refused = await post(captured(), { id: 'evt_later' });
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(refused).toMatchObject({ status: 503, body: { code: 'not_durable' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await blocker.query('rollback');
    blocker.release();
    expect(await post(captured(), { id: 'evt_later' })).toMatchObject({ status: 200 });
    expect(await stored('evt_later')).toBeDefined();
  });
});

it('counts deliveries for Prometheus', async () => {
  const metrics = await (await fetch(`${servers[0]?.url}/metrics`)).text();
  expect(metrics).toMatch(/paidonce_webhooks_total\{source="sim",result="pending"\} \d+/);
  expect(metrics).toMatch(/paidonce_webhooks_total\{source="sim",result="invalid_signature"\} \d+/);
});

it('a process that is told to stop finishes what it has taken, and ends by itself', async () => {
  const blocker = await database.pool.connect();
  await blocker.query('begin; lock table webhook_events in exclusive mode');
  const last = post(captured(), { id: 'evt_last', server: 1 });
  await expect
    .poll(async () => {
      const { rows } = await database.pool.query(
        `select 1 from pg_stat_activity where application_name = 'paidonce-server' and wait_event_type = 'Lock'`,
      );
      return rows.length;
    })
    .toBe(1);
  const ended = servers[1]?.kill('SIGTERM');
  await expect
    .poll(() =>
      fetch(`${servers[1]?.url}/healthz`).then(
        () => 'taken',
        () => 'refused',
      ),
    )
    .toBe('refused');
  await blocker.query('commit');
  blocker.release();
  expect(await last).toMatchObject({ status: 200, body: { duplicate: false } });
  expect(await ended).toMatchObject({ code: 0 });
});
