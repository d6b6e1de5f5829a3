import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rawPost } from '../support/raw-post.ts';
import { signedWebhook } from '../support/signed-webhook.ts';
import { openSystem, paymentEvent, type System } from '../support/system.ts';

const NOBODY = 'http://127.0.0.1:2';
const HEX_SECRET = 'a secret in plain text';

let system: System;
beforeAll(async () => {
  system = await openSystem({
    gateways: ['sim', 'other'],
    sources: [
      {
        ...{ name: 'stripe', kind: 'stripe', mode: 'test', api_base: NOBODY, api_key: 'sk_test_1' },
        webhook_secrets: [{ secret: HEX_SECRET }],
      },
      {
        ...{ name: 'razorpay', kind: 'razorpay', mode: 'test', api_base: NOBODY, api_key: 'key:secret' },
        webhook_secrets: [{ secret: HEX_SECRET }],
      },
    ],
  });
});
afterAll(() => system.close());

describe('a body is what its bytes are', () => {
  const rawOf = async (id: string) => (await system.call('GET', `/v1/events/sim/${id}`)).body.raw_base64 as string;

  it.each<[string, (name: string) => string]>([
    ['emoji', () => '😊'],
    ['accents', () => 'mañana, à bientôt'],
    ['the same letter in two spellings', () => 'n\u0303 and \u00f1'],
    ['every escape there is', () => '\b\f\n\r\t"\\/\u2028\u2029'],
  ])('with %s it pays, and its text is kept as it was meant', async (name, text) => {
    const id = name.replaceAll(' ', '_');
    await system.order({ id: `ord_${id}` });
    await system.pay(`pay_${id}`, `ord_${id}`);
    const body = JSON.stringify(paymentEvent(`pay_${id}`, `ord_${id}`, { note: text(name) }), null, '\t');
    expect((await system.deliver(body, { id: `evt_${id}` })).status).toBe(200);
    await system.eventIs(`evt_${id}`, 'processed');
    await system.orderIs(`ord_${id}`, { status: 'paid' });
    expect(await rawOf(`evt_${id}`)).toBe(Buffer.from(body).toString('base64'));
    const kept = await system.row(
      `select payload->'data'->>'note' as note from webhook_events where event_id = $1`,
      `evt_${id}`,
    );
    expect(kept).toEqual({ note: text(name) });
  });

  const json = (name: string) => JSON.stringify(paymentEvent(`pay_${name}`, `ord_${name}`, { note: '@' }));
  const withBytes = (name: string, ...odd: number[]) => {
    const [before = '', after = ''] = json(name).split('@');
    return Buffer.concat([Buffer.from(before), Buffer.from(odd), Buffer.from(after)]);
  };
  it.each<[string, (name: string) => Buffer]>([
    ['a byte order mark', (name) => Buffer.from(`\ufeff${json(name)}`)],
    ['a byte of no character', (name) => withBytes(name, 0xff)],
    ['half an emoji', (name) => withBytes(name, 0xf0, 0x9f, 0x98)],
    ['a character spelt too long', (name) => withBytes(name, 0xc0, 0xaf)],
    ['half a surrogate pair as bytes', (name) => withBytes(name, 0xed, 0xa0, 0xbd)],
    ['latin1 in place of UTF-8', (name) => Buffer.from(json(name).replace('@', 'ñ'), 'latin1')],
    ['UTF-16', (name) => Buffer.from(json(name), 'utf16le')],
    ['a NUL between its letters', (name) => withBytes(name, 0)],
  ])('with %s it is verified, kept byte for byte and put before a human; it pays nothing', async (name, bytes) => {
    const id = name.replaceAll(' ', '_');
    await system.order({ id: `ord_${id}` });
    await system.pay(`pay_${id}`, `ord_${id}`);
    const body = bytes(id);
    expect(await system.deliver(body, { id: `evt_${id}` })).toMatchObject({ status: 200, body: { duplicate: false } });
    expect((await system.eventIs(`evt_${id}`, 'held')).last_error).toBeTruthy();
    expect(await rawOf(`evt_${id}`)).toBe(body.toString('base64'));
    const letter = await system.row(`select id, kind, status from dead_letters where event_id = $1`, `evt_${id}`);
    expect(letter).toMatchObject({ kind: 'event_unreadable', status: 'open' });
    expect(
      (await system.call('GET', `/v1/dead-letters/${encodeURIComponent(letter.id)}`)).body.choices.toSorted(),
    ).toEqual(['give_up', 'retry']);
    expect((await system.call('GET', `/v1/orders/ord_${id}`)).body.status).toBe('pending_payment');
    // The gateway's next word is understood.
    await system.deliver(json(id), { id: `evt_${id}_again` });
    await system.orderIs(`ord_${id}`, { status: 'paid' });
  });

  it('that somebody on the way wrote anew, with the same meaning, is refused', async () => {
    const sent = signedWebhook(system.gateways['sim']?.webhookSecret ?? '', json('anew'), { id: 'evt_anew' });
    for (const other of [
      JSON.stringify(JSON.parse(json('anew')), null, 2),
      `${json('anew')}\n`,
      `\ufeff${json('anew')}`,
      json('anew').replace('"@"', '"\\u0040"'),
    ]) {
      const response = await fetch(`${system.servers[0]?.url}/webhooks/sim`, { ...sent, body: other });
      expect(response.status).toBe(401);
    }
    expect(await system.count(`webhook_events where event_id = 'evt_anew'`)).toBe(0);
  });
});

describe('nobody can make the door fall with a signature', () => {
  const BODY = JSON.stringify(paymentEvent('pay_forged', 'ord_forged'));
  const stripeTime = String(Math.floor(Date.now() / 1000));
  const genuine: Record<string, string[]> = {
    sim: Object.entries(signedWebhook('whsec_YQ==', BODY, { id: 'evt_forged' }).headers).map(([n, v]) => `${n}: ${v}`),
    stripe: [`stripe-signature: t=${stripeTime},v1=${'0'.repeat(64)}`],
    razorpay: [`x-razorpay-signature: ${'0'.repeat(64)}`],
  };
  const header = { sim: 'webhook-signature', stripe: 'stripe-signature', razorpay: 'x-razorpay-signature' } as const;
  const prefix = { sim: 'v1,', stripe: `t=${stripeTime},v1=`, razorpay: '' } as const;
  const values: [string, string][] = [
    ['empty', ''],
    ['spaces', '   '],
    ['of the wrong length', 'YQ=='],
    ['of one character', '0'],
    ['bad hex', 'zz'.repeat(32)],
    ['an odd number of hex digits', '0'.repeat(63)],
    ['bad base64', '%%%='.repeat(11)],
    ['of 100 KB', 'A'.repeat(100_000)],
    ['a thousand commas', ','.repeat(1_000)],
    ['a thousand signatures', 'v1,YQ== v1=00 '.repeat(1_000)],
    ['bytes of no character', '\u00ff\u00fe\u0080'],
    ['letters beyond ASCII', '\u00c3\u00b1'.repeat(22)],
    ['names of what every object has', '__proto__=constructor,v1=toString'],
  ];

  it.each(['sim', 'stripe', 'razorpay'] as const)('%s: an odd one is refused with 401', async (source) => {
    const others = (genuine[source] ?? []).filter((line) => !line.startsWith(header[source]));
    const attempts: [string, string[]][] = [
      ['missing', others],
      ['forged', genuine[source] ?? []],
      ['twice', [...others, ...Array<string>(2).fill(`${header[source]}: ${prefix[source]}YQ==`)]],
      ...values.map(([name, value]): [string, string[]] => [name, [...others, `${header[source]}: ${value}`]]),
      ...values.map(([name, value]): [string, string[]] => [
        `${name}, in its usual form`,
        [...others, `${header[source]}: ${prefix[source]}${value}`],
      ]),
    ];
    const answers = await Promise.all(
      attempts.map(async ([name, lines], n) => {
        const port = system.servers[n % 2]?.port ?? 0;
        return [name, await rawPost({ port, path: `/webhooks/${source}` }, lines, BODY)] as const;
      }),
    );
    expect(answers.filter(([, status]) => status !== 401)).toEqual([]);
  });

  it.each(['webhook-id', 'webhook-timestamp'])(
    'a %s that is odd, missing or doubled is no way in either',
    async (name) => {
      const { headers } = signedWebhook(system.gateways['sim']?.webhookSecret ?? '', BODY, { id: 'evt_forged' });
      const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}`);
      const others = lines.filter((line) => !line.startsWith(name));
      const odd = ['', ' ', '-1', '1e400', '\u00ff', '9'.repeat(400), 'NaN', '0x10', ' '.repeat(5_000)];
      for (const attempt of [
        others,
        ...odd.map((value) => [...others, `${name}: ${value}`]),
        [...lines, `${name}: 1`],
      ]) {
        const port = system.servers[0]?.port ?? 0;
        expect(await rawPost({ port, path: '/webhooks/sim' }, attempt, BODY)).toBe(401);
      }
    },
  );

  it('a genuine signature of another source, id, time or body is none', async () => {
    expect((await system.deliver(BODY, { id: 'evt_forged', secretOf: 'other' })).status).toBe(401);
    const secret = system.gateways['sim']?.webhookSecret ?? '';
    const sent = signedWebhook(secret, BODY, { id: 'evt_forged' });
    const send = async (over: object) =>
      (await fetch(`${system.servers[1]?.url}/webhooks/sim`, { ...sent, ...over })).status;
    expect(await send({ headers: { ...sent.headers, 'webhook-id': 'evt_other' } })).toBe(401);
    expect(await send({ headers: { ...sent.headers, 'webhook-timestamp': '1700000000' } })).toBe(401);
    expect(await send({ body: BODY.replace('10000', '1') })).toBe(401);
    expect(await send(signedWebhook(secret, BODY, { id: 'evt_forged', at: Date.now() - 3_600_000 }))).toBe(401);
    expect(await send(signedWebhook(secret, BODY, { id: 'evt_forged', at: Date.now() + 3_600_000 }))).toBe(401);
  });

  it('a genuine one among others is found', async () => {
    const secret = system.gateways['sim']?.webhookSecret ?? '';
    const event = paymentEvent('pay_rotated', null, { type: 'customer.created' });
    const sent = signedWebhook(secret, event, { id: 'evt_rotated' });
    const signature = `v1,YQ== v2,YQ== v1a,${'A'.repeat(88)} ${sent.headers['webhook-signature'] ?? ''}`;
    const headers = { ...sent.headers, 'webhook-signature': signature };
    const response = await fetch(`${system.servers[0]?.url}/webhooks/sim`, { ...sent, headers });
    expect(response.status).toBe(200);
  });

  it('and what was refused left nothing behind, and both processes alive', async () => {
    expect(await system.count(`webhook_events where payment_id = 'pay_forged' or event_id like 'evt_forged%'`)).toBe(0);
    expect(await system.count(`webhook_deliveries where event_id like 'evt_forged%'`)).toBe(0);
    for (const server of system.servers) {
      expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
      expect(server.logs()).not.toContain('webhook failed');
    }
  });
});

/** A Stripe and a Razorpay signature over text, as their documentation says. */
function hexSigned(source: 'stripe' | 'razorpay', body: string): Record<string, string> {
  const hmac = (text: string) => createHmac('sha256', HEX_SECRET).update(text).digest('hex');
  if (source === 'razorpay') return { 'x-razorpay-signature': hmac(body) };
  const t = String(Math.floor(Date.now() / 1000));
  return { 'stripe-signature': `t=${t},v1=${hmac(`${t}.${body}`)}` };
}

describe('what PostgreSQL cannot hold', () => {
  const NUL = String.raw`\u0000`;
  const HALF = String.raw`\ud83d`;
  const PAIR = String.raw`\ud83d\ude0a`;

  it('in values and names of an event: stored once, with whole pairs intact, and it pays', async () => {
    await system.order({ id: 'ord_nul' });
    await system.pay('pay_nul', 'ord_nul');
    const body = JSON.stringify(paymentEvent('pay_nul', 'ord_nul', { note: '@', list: ['@', { deep: '@' }] }))
      .replaceAll('@', `a${NUL}b${HALF}c${PAIR}d😊`)
      .replace('"deep"', `"de${NUL}ep${PAIR}"`);
    for (const n of [1, 2, 3]) expect((await system.deliver(body, { id: 'evt_nul' })).body.duplicate).toBe(n > 1);
    await system.orderIs('ord_nul', { status: 'paid' });
    const stored = await system.row(
      `select payload->'data' as data, (select count(*) from webhook_deliveries d where d.event_id = e.event_id and encode(d.body, 'base64') = encode($1, 'base64')) as copies
       from webhook_events e where event_id = 'evt_nul'`,
      Buffer.from(body),
    );
    const text = 'a\ufffdb\ufffdc😊d😊';
    expect(stored.data).toMatchObject({ note: text, list: [text, { 'de\ufffdep😊': text }] });
    expect(stored.copies).toBe(3n);
  });

  it.each(['stripe', 'razorpay'] as const)('in the id of an event of %s: answered 200 and kept', async (source) => {
    for (const [n, odd] of [NUL, HALF, `${HALF}${HALF}`, 'x'.repeat(10_000)].entries()) {
      const id = `evt_${n}${odd}`;
      const body =
        source === 'stripe'
          ? `{"id":"${id}","object":"event","type":"charge.updated","created":1,"livemode":false,"data":{"object":{"id":"ch_1","object":"charge"}}}`
          : `{"entity":"event","event":"payment.captured","created_at":1,"payload":{"payment":{"entity":{"id":"${id}","status":"captured"}}}}`;
      const response = await fetch(`${system.servers[n % 2]?.url}/webhooks/${source}`, {
        ...{ method: 'POST', body, headers: hexSigned(source, body) },
      });
      const answer = (await response.json()) as { event_id: string };
      expect(response.status).toBe(200);
      expect(await system.count(`webhook_events where source = $1 and event_id = $2`, source, answer.event_id)).toBe(1);
    }
  });

  it.each([
    ['order id', { id: '@' }],
    ['customer', { customer: { id: '@' } }],
    ['customer name', { customer: { id: 'c', name: '@' } }],
    ['line reference', { lines: [{ id: 'l1', kind: 'booking', amount: 100, reference: '@' }] }],
    ['line id', { lines: [{ id: '@', kind: 'booking', amount: 100 }] }],
    ['field that does not exist', { metadata: { note: '@' } }],
    ['name of a field', { '@': 1 }],
  ])('in the %s of a new order: a clear error, never 5xx, and nothing is stored', async (_name, fields) => {
    const valid = { id: 'ord_never', currency: 'EUR', amount: 100, customer: { id: 'c' } };
    const body = { ...valid, lines: [{ id: 'l1', kind: 'booking', amount: 100 }], ...fields };
    for (const [n, odd] of [NUL, HALF, `${HALF}x`, `x${String.raw`\ude0a`}`].entries()) {
      const text = JSON.stringify(body).replaceAll('@', odd);
      const answer = await system.call('POST', '/v1/orders', { key: `odd_${n}`, text });
      expect(answer).toMatchObject({ status: 422, body: { code: 'validation_failed', status: 422 } });
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
    }
    expect(await system.count(`orders where id = 'ord_never' or customer_id = 'c'`)).toBe(0);
    expect(await system.count(`idempotency_keys where key like 'odd_%'`)).toBe(0);
  });

  it('whole pairs in an order stay whole, under whichever spelling', async () => {
    const name = 'Zoë 😊';
    const order = await system.order({ id: 'ord_pairs', customer: { id: '顧客 😊', name } });
    expect(order.customer).toMatchObject({ id: '顧客 😊', name });
    const text = `{"id":"ord_pairs_2","currency":"EUR","amount":1,"customer":{"id":"${PAIR}"},"lines":[{"id":"${PAIR}","kind":"tax","amount":1}]}`;
    const spelt = await system.call('POST', '/v1/orders', { key: 'pairs', text });
    expect(spelt).toMatchObject({ status: 201, body: { customer: { id: '😊' }, lines: [{ id: '😊' }] } });
  });

  it('in an address or a question: a clear error or nothing found, never 5xx', async () => {
    const odd = ['%00', 'a%00b', '%ED%A0%BD', '%FF', '%C3%28', '%F0%9F%98%8A', '%', '%zz', '..%2f', 'x'.repeat(5_000)];
    const places = (part: string) => [
      `/v1/orders/${part}`,
      `/v1/payments/sim/${part}`,
      `/v1/payments/${part}/pay_1`,
      `/v1/payments/sim/${part}/timeline`,
      `/v1/events/sim/${part}`,
      `/v1/events/${part}/evt_1`,
      `/v1/events?payment_id=${part}`,
      `/v1/events?source=${part}`,
      `/v1/events?cursor=${part}`,
      `/v1/dead-letters/${part}`,
      `/v1/dead-letters?cursor=${part}`,
      `/v1/dead-letters?limit=${part}`,
    ];
    const writes = (part: string) => [
      `/v1/orders/${part}/cancel`,
      `/v1/orders/${part}/checkout`,
      `/v1/payments/sim/${part}/confirm`,
      `/v1/payments/${part}/pay_1/confirm`,
      `/v1/events/sim/${part}/replay`,
      `/webhooks/${part}`,
    ];
    const attempts = odd.flatMap((part) => [
      ...places(part).map((path) => ['GET', path] as const),
      ...writes(part).map((path) => ['POST', path] as const),
    ]);
    const bad: string[] = [];
    // A confirm of a payment that nobody knows waits for its answer, so they are not asked one by one.
    await Promise.all(
      attempts.map(async ([method, path], n) => {
        const options = method === 'POST' ? { key: `k${n}`, body: { source: 'sim' } } : {};
        const { status } = await system.call(method, path, options);
        if (status >= 500) bad.push(`${method} ${path.slice(0, 80)}: ${status}`);
      }),
    );
    expect(bad).toEqual([]);
  });

  it('in a header: a key that is not visible ASCII is refused, and an API key is unknown', async () => {
    const { port = 0 } = system.servers[0] ?? {};
    const authorization = `authorization: Bearer ${system.apiKey}`;
    for (const key of ['\u00ff', '\u00f0\u009f\u0098\u008a', 'a b', ' ', 'x'.repeat(256)]) {
      expect(await rawPost({ port, path: '/v1/orders' }, [authorization, `idempotency-key: ${key}`], '{}')).toBe(400);
    }
    for (const bearer of ['\u00ff', '', 'x'.repeat(50_000), 'po_\u00f1']) {
      const lines = [`authorization: Bearer ${bearer}`, 'idempotency-key: k'];
      expect(await rawPost({ port, path: '/v1/orders' }, lines, '{}')).toBe(401);
    }
  });
});

it('leaves books in which every promise holds', async () => {
  await system.settled();
  await system.expectCleanAudit();
});
