import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { createGzip, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { parseRetryAfter } from '../../src/domain/parse-retry-after.ts';
import { createJsonHttp } from '../../src/gateways/http.ts';
import { LARGEST_ANSWER } from '../../src/gateways/read-answer.ts';
import { eventually } from '../support/eventually.ts';
import { failureOf } from '../support/scripted-gateway.ts';

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** A gateway that does as told; `requests` counts what reached it, `ended` the connections that are no more. */
async function gateway(listener: RequestListener) {
  const counted = { requests: 0 };
  const ended = { connections: 0 };
  const server = createServer((request, response) => {
    counted.requests++;
    request.socket.once('close', () => ended.connections++);
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    return closed;
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${String(port)}/`;
  return { counted, ended, url, http: client(url) };
}

function client(baseUrl: string, timeoutMs = 5_000) {
  return createJsonHttp({ source: 'shop', baseUrl, headers: { authorization: 'Bearer k' }, timeoutMs });
}

const answering =
  (status: number, body: string, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) => {
    response.writeHead(status, headers).end(body);
  };

const endless: RequestListener = (_request, response) => {
  pipeline(forEver(), response, () => undefined);
};
const endlessGzip: RequestListener = (_request, response) => {
  response.setHeader('content-encoding', 'gzip');
  pipeline(forEver(), createGzip({ level: 1 }), response, () => undefined);
};
const bomb: RequestListener = (_request, response) => {
  // It does come to its end, after which a connection would be kept.
  response.writeHead(200, { 'content-encoding': 'gzip, gzip', connection: 'close' });
  response.end(gzipSync(gzipSync(Buffer.alloc(2 * LARGEST_ANSWER, ' '))));
};

/** Spaces, which JSON allows before its first sign. */
function forEver(): Readable {
  const spaces = Buffer.alloc(64 * 1024, ' ');
  return new Readable({
    read() {
      this.push(spaces);
    },
  });
}

describe('an answer', () => {
  it('comes back as JSON, from reads and writes', async () => {
    const { http } = await gateway((request, response) => {
      response.end(
        JSON.stringify([
          request.method,
          request.url,
          request.headers.authorization,
          request.headers['idempotency-key'] ?? null,
        ]),
      );
    });
    expect(await http.get('/a?b=c')).toEqual(['GET', '/a?b=c', 'Bearer k', null]);
    expect(await http.post('/a', { b: 1 }, { 'idempotency-key': 'key' })).toEqual(['POST', '/a', 'Bearer k', 'key']);
  });

  it('of 404 to a read is null', async () => {
    const { http } = await gateway(answering(404, '{"code":"payment_not_found"}'));
    expect(await http.get('/payments/pay_1')).toBeNull();
  });
});

describe('a refusal', () => {
  it.each([
    [400, '{"code":"invalid_request"}', 'rejected', 'invalid_request', true],
    [401, '{}', 'rejected', 'http_401', true],
    [402, '{"code":"card_declined"}', 'rejected', 'card_declined', false],
    [403, 'no', 'rejected', 'http_403', true],
    [404, '', 'rejected', 'http_404', true],
    [408, '', 'unknown', 'http_408', false],
    [409, '{"code":"already_captured"}', 'rejected', 'already_captured', false],
    [422, '{"code":"refund_exceeds_captured"}', 'rejected', 'refund_exceeds_captured', false],
    [422, '{"code":"a word with spaces\\u0000"}', 'rejected', 'http_422', false],
    [421, '', 'rejected', 'http_421', true],
    [422, 'null', 'rejected', 'http_422', false],
    [429, '{"code":"rate_limited"}', 'temporary', 'rate_limited', false],
    [302, '', 'unknown', 'http_302', false],
    [500, '{"code":"broken"}', 'unknown', 'broken', false],
    [502, '<html>', 'unknown', 'http_502', false],
    [503, '', 'unknown', 'http_503', false],
    [200, '<html>', 'unknown', 'unreadable_answer', false],
    [200, '', 'unknown', 'unreadable_answer', false],
    [200, 'null', 'unknown', 'unreadable_answer', false],
    [204, '', 'unknown', 'unreadable_answer', false],
  ])('of a write by %i %s is %s, %s', async (status, body, kind, code, ourFault) => {
    const { http, counted } = await gateway(answering(status, status === 204 ? '' : body, { location: '/elsewhere' }));
    expect(await failureOf(http.post('/refunds', {}))).toMatchObject({ kind, code, ourFault });
    expect(counted.requests).toBe(1);
  });

  it.each([
    [400, 'http_400'],
    [401, 'unauthorized'],
    [403, 'unauthorized'],
    [409, 'http_409'],
    [429, 'http_429'],
    [302, 'http_302'],
    [500, 'http_500'],
    [503, 'http_503'],
    [200, 'unreadable_answer'],
  ])('of a read by %i is always temporary', async (status, code) => {
    const { http, counted } = await gateway(answering(status, 'null', { location: '/elsewhere' }));
    expect(await failureOf(http.get('/payments/pay_1'))).toMatchObject({ kind: 'temporary', code });
    expect(counted.requests).toBe(1);
  });

  it('carries the gateway’s Retry-After, also with a 503', async () => {
    const { http } = await gateway((request, response) => {
      response.writeHead(request.method === 'GET' ? 503 : 429, { 'retry-after': '7' }).end();
    });
    expect((await failureOf(http.get('/payments/pay_1'))).retryAfterMs).toBe(7_000);
    expect((await failureOf(http.post('/refunds', {}))).retryAfterMs).toBe(7_000);
  });

  it('whose text broke off is a refusal all the same', async () => {
    const { http } = await gateway((_request, response) => {
      response.writeHead(422, { 'content-length': '100' });
      response.write('{"code":', () => response.destroy());
    });
    expect(await failureOf(http.post('/refunds', {}))).toMatchObject({ kind: 'rejected', code: 'http_422' });
  });

  it('is told in a sentence that names the account and the call, and no key', async () => {
    const { http } = await gateway(answering(422, '{"code":"refund_exceeds_captured"}'));
    expect((await failureOf(http.post('/refunds', {}))).message).toBe(
      'shop answered 422 refund_exceeds_captured (POST /refunds).',
    );
  });
});

describe('an answer that never came whole', () => {
  const cut: RequestListener = (request) => request.socket.destroy();
  const half: RequestListener = (_request, response) => {
    response.writeHead(201, { 'content-length': '100' });
    response.write('{"refund_id":', () => response.destroy());
  };
  it.each([
    ['cut', cut],
    ['cut half-way', half],
  ])('%s: a write is unknown, a read temporary, and each was sent once', async (_what, listener) => {
    const { http, counted } = await gateway(listener);
    expect(await failureOf(http.post('/refunds', {}))).toMatchObject({ kind: 'unknown', code: 'connection_lost' });
    expect(counted.requests).toBe(1);
    expect(await failureOf(http.get('/refunds'))).toMatchObject({ kind: 'temporary', code: 'connection_lost' });
    expect(counted.requests).toBe(2);
  });

  it('cut on a connection that had served before: still sent once', async () => {
    const { http, counted } = await gateway((request, response) => {
      if (counted.requests === 1) response.end('{}');
      else request.socket.destroy();
    });
    await http.post('/refunds', {});
    expect(await failureOf(http.post('/refunds', {}))).toMatchObject({ kind: 'unknown' });
    expect(counted.requests).toBe(2);
  });

  it('late: a write is unknown, a read temporary', async () => {
    const server = createServer(() => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const impatient = client(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`, 100);
    expect(await failureOf(impatient.post('/refunds', {}))).toMatchObject({ kind: 'unknown', code: 'timeout' });
    expect(await failureOf(impatient.get('/refunds'))).toMatchObject({ kind: 'temporary', code: 'timeout' });
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('an answer without an end', () => {
  it.each([
    ['as it is', endless],
    // What comes over the wire is a thousandth of what it becomes here.
    ['compressed', endlessGzip],
    ['twice the size, in a thousand bytes', bomb],
  ])('%s is given up at 16 MiB: a write is unknown, a read temporary', async (_what, listener) => {
    const { url, ended } = await gateway(listener);
    // Compressing takes time on a busy machine.
    const http = client(url, 60_000);
    const tooLarge = { code: 'answer_too_large' };
    expect(await failureOf(http.post('/refunds', {}))).toMatchObject({ kind: 'unknown', ...tooLarge });
    expect(await failureOf(http.get('/refunds'))).toMatchObject({ kind: 'temporary', ...tooLarge });
    // The gateway is not left writing into a connection that nobody reads.
    await eventually(
      () => `${ended.connections} of 2 connections have ended`,
      () => ended.connections === 2,
    );
  });

  it('leaves room for an answer of 16 MiB', async () => {
    const { http } = await gateway(answering(200, JSON.stringify('a'.repeat(LARGEST_ANSWER - 2))));
    expect(await http.get('/payments')).toHaveLength(LARGEST_ANSWER - 2);
  });

  it('is a refusal all the same where its status refuses', async () => {
    const { http } = await gateway((request, response) => {
      response.statusCode = 422;
      endless(request, response);
    });
    expect(await failureOf(http.post('/refunds', {}))).toMatchObject({ kind: 'rejected', code: 'http_422' });
  });

  it('that comes a byte at a time ends with the call’s time, though it never falls silent', async () => {
    const drip: RequestListener = (_request, response) => {
      const drops = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(drops));
    };
    const { url, ended } = await gateway(drip);
    const impatient = client(url, 200);
    expect(await failureOf(impatient.post('/refunds', {}))).toMatchObject({ kind: 'unknown', code: 'timeout' });
    expect(await failureOf(impatient.get('/refunds'))).toMatchObject({ kind: 'temporary', code: 'timeout' });
    await eventually(
      () => `${ended.connections} of 2 connections have ended`,
      () => ended.connections === 2,
    );
  });
});

describe('what was surely not sent is temporary, for a write too', () => {
  it.each([
    ['http://127.0.0.1:2', 'connection_refused'],
    ['http://localhost:2', 'connection_refused'],
    // `fetch` itself refuses some ports.
    ['http://127.0.0.1:1', 'connection_failed'],
    ['http://paidonce.invalid', 'host_not_found'],
  ])('%s', async (baseUrl, code) => {
    expect(await failureOf(client(baseUrl).post('/refunds', {}))).toMatchObject({
      kind: 'temporary',
      code,
      ourFault: false,
    });
  });
});

it('what cannot be written down as a request is our fault, and was not sent', async () => {
  const { http, counted } = await gateway(answering(200, '{}'));
  const call = http.post('/refunds', {}, { 'idempotency-key': 'für' + '\u0100' });
  expect(await failureOf(call)).toMatchObject({ kind: 'rejected', code: 'request_impossible', ourFault: true });
  expect(counted.requests).toBe(0);
});

describe('Retry-After', () => {
  const now = Date.parse('2026-11-30T12:00:00Z');
  it.each([
    ['0', 0],
    ['7', 7_000],
    [' 7 ', 7_000],
    ['Mon, 30 Nov 2026 12:01:00 GMT', 60_000],
    ['Mon, 30 Nov 2026 11:00:00 GMT', 0],
    ['999999999', 86_400_000],
    ['9'.repeat(400), 86_400_000],
    ['soon', null],
    ['', null],
    ['-5', null],
    ['1.5', null],
    [null, null],
  ])('%j is %j ms', (header, ms) => {
    expect(parseRetryAfter(header, now)).toBe(ms);
  });
});
