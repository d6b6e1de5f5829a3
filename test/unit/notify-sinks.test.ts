import { createServer, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Delivery } from '../../src/notify/consumer.ts';
import { createHttpSink } from '../../src/notify/consumers/http-sink.ts';
import { DeliveryError } from '../../src/notify/delivery-error.ts';
import { postJson } from '../../src/notify/post-json.ts';
import { sendJson, startScriptedServer, type Script, type ScriptedServer } from '../support/scripted-server.ts';

const DELIVERY: Delivery = {
  event: {
    id: 'outbox:42',
    type: 'order.paid',
    at: new Date('2026-11-30T09:42:00Z'),
    aggregateVersion: 3n,
    payload: {
      order_id: 'ord_1',
      source: 'sim',
      payment_id: 'pay_1',
      amount: '9007199254740991',
      currency: 'EUR',
      refund_id: null,
    },
  },
  target: '-',
  order: null,
  signal: AbortSignal.timeout(20_000),
};

let server: ScriptedServer | undefined;
afterEach(() => server?.close());

async function sink(script: Script) {
  server = await startScriptedServer(script);
  return createHttpSink({
    ...{ name: 'crm', url: `${server.url}/events?key=s3cret`, types: ['order.paid'] },
    ...{ secret: 'token', headers: { 'x-team': 'a' } },
  });
}

const failureOf = async (work: Promise<unknown>): Promise<DeliveryError> => {
  const error: unknown = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(DeliveryError);
  expect((error as Error).message).not.toContain('s3cret');
  return error as DeliveryError;
};

describe('a sink', () => {
  it('gets an event as one POST whose Idempotency-Key is the event, the same in every try', async () => {
    const crm = await sink((_request, response) => sendJson(response, 202, {}));
    expect(crm.name).toBe('sink:crm');
    expect(await crm.deliver(DELIVERY)).toEqual({ status: 'done' });
    await crm.deliver(DELIVERY);
    expect(server?.requests).toHaveLength(2);
    const [first, second] = server?.requests ?? [];
    expect(first).toMatchObject({
      method: 'POST',
      path: '/events?key=s3cret',
      headers: {
        'idempotency-key': 'outbox:42',
        'content-type': 'application/json',
        authorization: 'Bearer token',
        'x-team': 'a',
      },
    });
    expect(first?.body).toBe(
      '{"id":"outbox:42","type":"order.paid","timestamp":"2026-11-30T09:42:00.000Z","aggregate_version":3,' +
        '"data":{"order_id":"ord_1","source":"sim","payment_id":"pay_1","amount":9007199254740991,"currency":"EUR"}}',
    );
    expect(second?.body).toBe(first?.body);
  });

  it.each([
    [503, { 'retry-after': '7' }, { final: false, retryAfterMs: 7_000 }],
    [429, { 'retry-after': '120' }, { final: false, retryAfterMs: 120_000 }],
    [400, {}, { final: false, retryAfterMs: null }],
    [410, {}, { final: true, retryAfterMs: null }],
  ] as [number, Record<string, string>, object][])(
    'that answers %i has not taken it',
    async (status, headers, error) => {
      const crm = await sink((_request, response) => sendJson(response, status, { said: 'ada@x.example' }, headers));
      const failure = await failureOf(crm.deliver(DELIVERY));
      expect(failure).toMatchObject({ ...error, message: `sink:crm answered ${status}.` });
    },
  );

  it('that redirects has not taken it, and is not followed', async () => {
    const crm = await sink((request, response) => {
      if (request.path === '/elsewhere') sendJson(response, 200, {});
      else sendJson(response, 307, {}, { location: '/elsewhere' });
    });
    expect((await failureOf(crm.deliver(DELIVERY))).message).toContain('307, a redirect');
    expect(server?.requests).toHaveLength(1);
  });

  it('that breaks the connection off is called once, and tried again by nobody but the workflow', async () => {
    const crm = await sink((_request, response) => response.destroy());
    expect((await failureOf(crm.deliver(DELIVERY))).final).toBe(false);
    expect(server?.requests).toHaveLength(1);
  });
});

describe('a POST', () => {
  const POST = { name: 'crm', body: '{}', timeoutMs: 200 };

  it('that is not answered ends in time', async () => {
    const silent = createServer((socket) => socket.on('error', () => undefined));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const { message } = await failureOf(postJson({ ...POST, url: `http://127.0.0.1:${port}/` }));
    expect(message).toBe('crm did not answer within 200 ms.');
    silent.close();
  });

  it('whose answer drips, or has no end, ends too: its status is the answer', async () => {
    server = await startScriptedServer((request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(request.path === '/drip' ? '.' : 'x'.repeat(100_000)), 10);
      response.on('close', () => clearInterval(drip));
    });
    const { url } = server;
    expect((await postJson({ ...POST, url: `${url}/drip` })).status).toBe(200);
    const answer = await postJson({ ...POST, timeoutMs: 5_000, url: `${url}/flood` });
    expect(answer.body.length).toBe(16 * 1024);
  });

  it('to nobody says why, and one that is not waited for any longer ends at once', async () => {
    expect((await failureOf(postJson({ ...POST, url: 'http://127.0.0.1:1/s3cret' }))).message).toBe(
      'crm could not be reached, or broke the connection off (ECONNREFUSED).',
    );
    server = await startScriptedServer(() => undefined);
    const signal = AbortSignal.timeout(20);
    const post = postJson({ ...POST, timeoutMs: 10_000, url: server.url, signal });
    expect((await failureOf(post)).message).toBe('crm was not waited for any longer.');
  });

  it('goes to the address that the given look-up says', async () => {
    server = await startScriptedServer((_request, response) => sendJson(response, 200, {}));
    const { port } = new URL(server.url);
    const asked: string[] = [];
    const answer = await postJson({
      ...POST,
      url: `http://receiver.invalid:${port}/`,
      lookup: (hostname, options, done) => {
        asked.push(hostname);
        if (options.all === true) done(null, [{ address: '127.0.0.1', family: 4 }]);
        else done(null, '127.0.0.1', 4);
      },
    });
    expect([answer.status, asked]).toEqual([200, ['receiver.invalid']]);
    expect(server.requests[0]?.headers.host).toBe(`receiver.invalid:${port}`);
  });
});
