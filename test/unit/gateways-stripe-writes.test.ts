import { createServer } from 'node:net';
import Stripe from 'stripe';
import { describe, expect, it } from 'vitest';
import type { RefundOrder } from '../../src/gateways/gateway.ts';
import { sendJson, type Script } from '../support/scripted-server.ts';
import { shopFailureOf, refusal, stripeAt, stripeThat } from '../support/scripted-stripe.ts';

const REFUND = {
  id: 're_1',
  object: 'refund',
  amount: 500,
  currency: 'eur',
  status: 'succeeded',
  charge: 'ch_1',
  metadata: {},
};
const ORDER: RefundOrder = {
  paymentId: 'pi_1',
  amount: 500n,
  currency: 'EUR',
  reference: 'refund:ref_1',
  idempotencyKey: 'refund:ref_1#2',
};
/** A good deal more than what is written at once, so that the next is written when it has gone. */
const SPACES = ' '.repeat(256 * 1024);

describe('a write to Stripe', () => {
  it('carries our key, our reference and the literal amount, once', async () => {
    const { gateway, requests } = await stripeThat((_request, response) => sendJson(response, 200, REFUND));
    expect(await gateway.createRefund(ORDER)).toEqual({
      refundId: 're_1',
      paymentId: 'pi_1',
      amount: 500n,
      currency: 'EUR',
      status: 'succeeded',
      reference: ORDER.reference,
      failureCode: null,
    });
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({
      method: 'POST',
      path: '/v1/refunds',
      headers: { 'idempotency-key': 'refund:ref_1#2' },
    });
    expect(Object.fromEntries(new URLSearchParams(requests[0]?.body))).toEqual({
      payment_intent: 'pi_1',
      amount: '500',
      'metadata[paidonce_reference]': 'refund:ref_1',
    });
  });

  it.each([
    ['another reference', { metadata: { paidonce_reference: 'refund:ref_2' } }],
    ['another currency', { currency: 'usd' }],
  ])('answered by a refund with %s is unknown: it is no answer to ours', async (_what, other) => {
    const { gateway } = await stripeThat((_request, response) => sendJson(response, 200, { ...REFUND, ...other }));
    expect(await shopFailureOf(gateway.createRefund(ORDER))).toMatchObject({ kind: 'unknown' });
  });

  it('gets a key derived from ours where ours is too long, the same every time', async () => {
    const { gateway, requests } = await stripeThat((_request, response) => sendJson(response, 200, REFUND));
    const long = { ...ORDER, idempotencyKey: 'k'.repeat(256) };
    await gateway.createRefund(long);
    await gateway.createRefund(long);
    const keys = requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(keys[1]).toBe(keys[0]);
  });

  it('whose connection is closed before the answer is unknown, and is sent once: the SDK alone sends it twice', async () => {
    const { gateway, requests, url } = await stripeThat((_request, response) => response.socket?.resetAndDestroy());
    expect(await shopFailureOf(gateway.createRefund(ORDER))).toMatchObject({
      kind: 'unknown',
      code: 'connection_lost',
    });
    expect(requests).toHaveLength(1);

    requests.length = 0;
    const { hostname, port } = new URL(url);
    const alone = new Stripe('sk_test_x', { host: hostname, port, protocol: 'http', maxNetworkRetries: 0 });
    await expect(alone.refunds.create({ payment_intent: 'pi_1' })).rejects.toThrow();
    expect(requests).toHaveLength(2);
  });

  it('opens a connection of its own: a kept one may close just as the request goes out', async () => {
    const { gateway, requests } = await stripeThat((_request, response) => sendJson(response, 200, REFUND));
    await gateway.createRefund(ORDER);
    expect(requests[0]?.headers.connection).toBe('close');
  });

  it.each<[string, Script, string]>([
    ['never answered', () => undefined, 'timeout'],
    [
      'answered a byte at a time for ever',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const drip = setInterval(() => response.write(' '), 50);
        response.on('close', () => clearInterval(drip));
      },
      'timeout',
    ],
    [
      'answered without an end',
      (_request, response) => {
        response.on('drain', () => response.write(SPACES));
        response.write(SPACES);
      },
      'answer_too_large',
    ],
    [
      'answered by half an object',
      (_request, response) => {
        response.writeHead(200, { 'content-length': 1000 });
        response.write('{"id":"re_1",', () => response.socket?.destroy());
      },
      'connection_lost',
    ],
    [
      'answered by something that is no JSON',
      (_request, response) => sendJson(response, 200, '<html>'),
      'unreadable_answer',
    ],
    ['answered by null', (_request, response) => sendJson(response, 200, 'null'), 'unreadable_answer'],
    [
      'answered by another object',
      (_request, response) => sendJson(response, 200, { object: 'charge', id: 'ch_1' }),
      'unreadable_answer',
    ],
    [
      'answered by the refund of another payment',
      (_request, response) => sendJson(response, 200, { ...REFUND, payment_intent: 'pi_2' }),
      'unreadable_answer',
    ],
    [
      'answered by an object without an id',
      (_request, response) => sendJson(response, 200, { ...REFUND, id: null }),
      'unreadable_answer',
    ],
    [
      'answered by an amount that cannot be exact',
      (_request, response) => sendJson(response, 200, { ...REFUND, amount: 0.5 }),
      'unreadable_answer',
    ],
    ['refused by nobody knows whom', (_request, response) => sendJson(response, 404, '<html>'), 'unreadable_answer'],
    [
      'refused without an error',
      (_request, response) => sendJson(response, 400, { message: 'no' }),
      'unreadable_answer',
    ],
    [
      'sent elsewhere',
      (_request, response) => sendJson(response, 307, '', { location: '/v1/elsewhere' }),
      'unreadable_answer',
    ],
    ['answered 500', refusal(500, { type: 'api_error', message: 'Oops' }), 'http_500'],
    ['answered 503 without an error', (_request, response) => sendJson(response, 503, {}), 'unreadable_answer'],
    [
      'still at work under the same key',
      refusal(409, { type: 'idempotency_error', code: 'idempotency_key_in_use' }),
      'request_in_progress',
    ],
    [
      'told that its key is in use',
      refusal(409, { type: 'invalid_request_error', code: 'idempotency_key_in_use' }),
      'request_in_progress',
    ],
  ])('that is %s is unknown, and is sent once', async (_name, script, code) => {
    const { gateway, requests } = await stripeThat(script);
    expect(await shopFailureOf(gateway.createRefund(ORDER))).toMatchObject({ kind: 'unknown', code });
    expect(requests).toHaveLength(1);
  });

  it.each<[string, Script, string, boolean]>([
    [
      'already refunded',
      refusal(400, { type: 'invalid_request_error', code: 'charge_already_refunded' }),
      'already_refunded',
      false,
    ],
    [
      'already captured',
      refusal(400, { type: 'invalid_request_error', code: 'charge_already_captured' }),
      'already_captured',
      false,
    ],
    [
      'beyond what is left',
      refusal(400, { type: 'invalid_request_error', param: 'amount' }),
      'refund_exceeds_captured',
      false,
    ],
    [
      'beyond the balance',
      refusal(400, { type: 'invalid_request_error', code: 'balance_insufficient' }),
      'insufficient_balance',
      false,
    ],
    ['declined', refusal(402, { type: 'card_error', code: 'card_declined' }), 'card_declined', false],
    [
      'a conflict',
      refusal(409, { type: 'invalid_request_error', code: 'resource_conflict' }),
      'resource_conflict',
      false,
    ],
    ['another request under the key', refusal(400, { type: 'idempotency_error' }), 'idempotency_key_reused', true],
    [
      'malformed',
      refusal(400, { type: 'invalid_request_error', code: 'parameter_unknown' }),
      'parameter_unknown',
      true,
    ],
    ['without a valid key', refusal(401, { type: 'invalid_request_error' }), 'http_401', true],
    ['forbidden', refusal(403, { type: 'invalid_request_error' }), 'http_403', true],
    [
      'about nothing known',
      refusal(404, { type: 'invalid_request_error', code: 'resource_missing' }),
      'resource_missing',
      true,
    ],
  ])('that is refused as %s is rejected', async (_name, script, code, ourFault) => {
    const { gateway } = await stripeThat(script);
    expect(await shopFailureOf(gateway.createRefund(ORDER))).toMatchObject({ kind: 'rejected', code, ourFault });
  });

  it.each<[string, Script, string, number | null]>([
    [
      'rate limited',
      refusal(429, { type: 'invalid_request_error', code: 'rate_limit' }, { 'retry-after': '7' }),
      'rate_limit',
      7_000,
    ],
    ['locked', refusal(429, { type: 'invalid_request_error', code: 'lock_timeout' }), 'lock_timeout', null],
    [
      'limited by something in between',
      (_request, response) => sendJson(response, 429, 'slow down', { 'retry-after': '2' }),
      'unreadable_answer',
      2_000,
    ],
  ])('that is %s is temporary', async (_name, script, code, retryAfterMs) => {
    const { gateway } = await stripeThat(script);
    expect(await shopFailureOf(gateway.createRefund(ORDER))).toMatchObject({ kind: 'temporary', code, retryAfterMs });
  });

  it('that never left is temporary', async () => {
    const port = await closedPort();
    const code = 'connection_refused';
    expect(await shopFailureOf(stripeAt(`http://127.0.0.1:${port}`).createRefund(ORDER))).toMatchObject({
      kind: 'temporary',
      code,
    });
    const nowhere = await shopFailureOf(stripeAt('http://gateway.invalid').createRefund(ORDER));
    expect(nowhere).toMatchObject({ kind: 'temporary', code: 'host_not_found' });
    const { url } = await stripeThat(() => undefined);
    const secure = stripeAt(url.replace('http:', 'https:'));
    expect(await shopFailureOf(secure.createRefund(ORDER))).toMatchObject({ kind: 'temporary' });
  });

  it('of what cannot be told exactly is refused before anything is sent', async () => {
    const { gateway, requests } = await stripeThat((_request, response) => sendJson(response, 200, REFUND));
    const refused = { kind: 'rejected', ourFault: true };
    expect(await shopFailureOf(gateway.createRefund({ ...ORDER, amount: 2n ** 53n }))).toMatchObject(refused);
    expect(await shopFailureOf(gateway.createRefund({ ...ORDER, amount: 1n, currency: 'CLF' }))).toMatchObject(refused);
    expect(await shopFailureOf(gateway.createRefund({ ...ORDER, paymentId: '../charges' }))).toMatchObject(refused);
    const dinar = {
      orderId: 'ord_1',
      amount: 1234n,
      currency: 'KWD',
      reference: 'r',
      idempotencyKey: 'k',
      returnUrl: null,
    };
    expect(await shopFailureOf(gateway.preparePayment(dinar))).toMatchObject({ ...refused, code: 'amount_not_exact' });
    expect(requests).toHaveLength(0);
  });
});

async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
  await new Promise((resolve) => server.close(resolve));
  return port;
}
