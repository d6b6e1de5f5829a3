import { createServer } from 'node:net';
import Stripe from 'stripe';
import { afterEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/domain/gateway-error.ts';
import { createGateway } from '../../src/gateways/create-gateway.ts';
import type { Gateway, RefundOrder } from '../../src/gateways/gateway.ts';
import { createStripeGateway } from '../../src/gateways/stripe/create-stripe-gateway.ts';
import { sendJson, startScriptedServer, type ScriptedServer } from '../support/scripted-server.ts';

type Script = Parameters<typeof startScriptedServer>[0];

const REFUND = {
  id: 're_1',
  object: 'refund',
  amount: 500,
  currency: 'eur',
  status: 'succeeded',
  charge: 'ch_1',
  metadata: {},
};
const INTENT = {
  id: 'pi_1',
  object: 'payment_intent',
  amount: 1999,
  currency: 'eur',
  status: 'succeeded',
  metadata: {},
};
const ORDER: RefundOrder = {
  paymentId: 'pi_1',
  amount: 500n,
  currency: 'EUR',
  reference: 'refund:ref_1',
  idempotencyKey: 'refund:ref_1#2',
};

const servers: ScriptedServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function gatewayThat(script: Script): Promise<{ gateway: Gateway; requests: ScriptedServer['requests'] }> {
  const server = await startScriptedServer(script);
  servers.push(server);
  return { gateway: gatewayAt(server.url), requests: server.requests };
}

function gatewayAt(apiBase: string): Gateway {
  const config = { name: 'shop', kind: 'stripe', mode: 'test', accountNumber: null, webhookSecrets: [] } as const;
  return createStripeGateway({ ...config, apiBase, apiKey: 'sk_test_x' }, { toleranceMs: 300_000, timeoutMs: 500 });
}

async function failureOf(call: Promise<unknown>): Promise<GatewayError> {
  const error: unknown = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(GatewayError);
  expect((error as GatewayError).message).toMatch(/^shop .*\.$/);
  return error as GatewayError;
}

function refusal(status: number, error: object, headers: Record<string, string> = {}): Script {
  return (_request, response) => sendJson(response, status, { error }, headers);
}

describe('a write to Stripe', () => {
  it('carries our key, our reference and the literal amount, once', async () => {
    const { gateway, requests } = await gatewayThat((_request, response) => sendJson(response, 200, REFUND));
    expect(await gateway.createRefund(ORDER)).toEqual({
      refundId: 're_1',
      paymentId: 'pi_1',
      amount: 500n,
      currency: 'EUR',
      status: 'succeeded',
      reference: null,
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

  it('gets a key derived from ours where ours is too long, the same every time', async () => {
    const { gateway, requests } = await gatewayThat((_request, response) => sendJson(response, 200, REFUND));
    const long = { ...ORDER, idempotencyKey: 'k'.repeat(256) };
    await gateway.createRefund(long);
    await gateway.createRefund(long);
    const keys = requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(keys[1]).toBe(keys[0]);
  });

  it('whose connection is closed before the answer is unknown, and is sent once: the SDK alone sends it twice', async () => {
    const { gateway, requests } = await gatewayThat((_request, response) => response.socket?.resetAndDestroy());
    expect(await failureOf(gateway.createRefund(ORDER))).toMatchObject({ kind: 'unknown', code: 'connection_lost' });
    expect(requests).toHaveLength(1);

    requests.length = 0;
    const { hostname, port } = new URL(servers[0]?.url ?? '');
    const alone = new Stripe('sk_test_x', { host: hostname, port, protocol: 'http', maxNetworkRetries: 0 });
    await expect(alone.refunds.create({ payment_intent: 'pi_1' })).rejects.toThrow();
    expect(requests).toHaveLength(2);
  });

  it('opens a connection of its own: a kept one may close just as the request goes out', async () => {
    const { gateway, requests } = await gatewayThat((_request, response) => sendJson(response, 200, REFUND));
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
    const { gateway, requests } = await gatewayThat(script);
    expect(await failureOf(gateway.createRefund(ORDER))).toMatchObject({ kind: 'unknown', code });
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
    const { gateway } = await gatewayThat(script);
    expect(await failureOf(gateway.createRefund(ORDER))).toMatchObject({ kind: 'rejected', code, ourFault });
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
    const { gateway } = await gatewayThat(script);
    expect(await failureOf(gateway.createRefund(ORDER))).toMatchObject({ kind: 'temporary', code, retryAfterMs });
  });

  it('that never left is temporary', async () => {
    const port = await closedPort();
    const code = 'connection_refused';
    expect(await failureOf(gatewayAt(`http://127.0.0.1:${port}`).createRefund(ORDER))).toMatchObject({
      kind: 'temporary',
      code,
    });
    const nowhere = await failureOf(gatewayAt('http://gateway.invalid').createRefund(ORDER));
    expect(nowhere).toMatchObject({ kind: 'temporary', code: 'host_not_found' });
    const { gateway } = await gatewayThat(() => undefined);
    const secure = gatewayAt((servers[0]?.url ?? '').replace('http:', 'https:'));
    expect(await failureOf(secure.createRefund(ORDER))).toMatchObject({ kind: 'temporary' });
    expect(gateway.source).toBe('shop');
  });

  it('of what cannot be told exactly is refused before anything is sent', async () => {
    const { gateway, requests } = await gatewayThat((_request, response) => sendJson(response, 200, REFUND));
    const refused = { kind: 'rejected', ourFault: true };
    expect(await failureOf(gateway.createRefund({ ...ORDER, amount: 2n ** 53n }))).toMatchObject(refused);
    expect(await failureOf(gateway.createRefund({ ...ORDER, amount: 1n, currency: 'CLF' }))).toMatchObject(refused);
    expect(await failureOf(gateway.createRefund({ ...ORDER, paymentId: '../charges' }))).toMatchObject(refused);
    const dinar = {
      orderId: 'ord_1',
      amount: 1234n,
      currency: 'KWD',
      reference: 'r',
      idempotencyKey: 'k',
      returnUrl: null,
    };
    expect(await failureOf(gateway.preparePayment(dinar))).toMatchObject({ ...refused, code: 'amount_not_exact' });
    expect(requests).toHaveLength(0);
  });
});

describe('a read from Stripe', () => {
  it.each([
    ['requires_payment_method', {}, 'pending', 1999n],
    ['requires_payment_method', { last_payment_error: { code: 'card_declined' } }, 'failed', 1999n],
    ['requires_confirmation', {}, 'pending', 1999n],
    ['requires_action', { last_payment_error: null }, 'pending', 1999n],
    ['processing', {}, 'pending', 1999n],
    ['requires_capture', { amount_received: 0 }, 'authorized', 1999n],
    ['succeeded', { amount_received: 1500 }, 'captured', 1500n],
    ['canceled', { amount_received: 0 }, 'expired', 1999n],
  ])('shows a payment that is %s %o as %s', async (status, more, ours, amount) => {
    const { gateway, requests } = await gatewayThat((_request, response) =>
      sendJson(response, 200, {
        ...INTENT,
        status,
        ...more,
        livemode: false,
        metadata: { order_id: 'ord_1', paidonce_reference: 'checkout:ord_1:1' },
        latest_charge: { id: 'ch_1', amount_refunded: 250 },
      }),
    );
    expect(await gateway.fetchPayment('pi_1')).toEqual({
      paymentId: 'pi_1',
      orderId: 'ord_1',
      reference: 'checkout:ord_1:1',
      status: ours,
      amount,
      currency: 'EUR',
      amountRefunded: 250n,
      mode: 'test',
    });
    expect(requests[0]?.path).toBe('/v1/payment_intents/pi_1?expand[0]=latest_charge');
  });

  it('makes up no amount that is not there', async () => {
    const { amount: _, currency: __, ...bare } = INTENT;
    const { gateway } = await gatewayThat((_request, response) => sendJson(response, 200, bare));
    expect(await gateway.fetchPayment('pi_1')).toMatchObject({
      amount: null,
      currency: null,
      amountRefunded: null,
      mode: null,
      orderId: null,
    });
  });

  it.each([
    ['succeeded', { captured: true, amount_captured: 1500 }, { status: 'captured', amount: 1500n }],
    ['succeeded', { captured: false }, { status: 'authorized', amount: 1999n }],
    ['succeeded', { captured: false, refunded: true }, { status: 'expired', amount: 1999n }],
    ['pending', {}, { status: 'pending' }],
    ['failed', {}, { status: 'failed' }],
  ])('shows a charge without an intent that is %s %o', async (status, more, facts) => {
    const charge = {
      id: 'ch_1',
      object: 'charge',
      amount: 1999,
      currency: 'eur',
      status,
      ...more,
      payment_intent: null,
      amount_refunded: 0,
    };
    const { gateway } = await gatewayThat((_request, response) => sendJson(response, 200, charge));
    expect(await gateway.fetchPayment('ch_1')).toMatchObject({ paymentId: 'ch_1', amountRefunded: 0n, ...facts });
  });

  it('does not take the charge of an intent for a payment of its own', async () => {
    const charge = {
      id: 'ch_1',
      object: 'charge',
      amount: 1999,
      currency: 'eur',
      status: 'succeeded',
      captured: true,
      payment_intent: 'pi_1',
    };
    const { gateway } = await gatewayThat((_request, response) => sendJson(response, 200, charge));
    expect(await gateway.fetchPayment('ch_1')).toBeNull();
  });

  it('of an unknown payment is null, and of what cannot be an id is null without asking', async () => {
    const { gateway, requests } = await gatewayThat(
      refusal(404, { type: 'invalid_request_error', code: 'resource_missing' }),
    );
    expect(await gateway.fetchPayment('pi_2')).toBeNull();
    expect(await gateway.listRefunds('pi_2')).toEqual([]);
    expect(requests).toHaveLength(2);
    expect(await gateway.fetchPayment('../charges/ch_1')).toBeNull();
    expect(await gateway.listRefunds('pi 1')).toEqual([]);
    expect(requests).toHaveLength(2);
  });

  it.each<[string, Script, string]>([
    ['refused for its key', refusal(401, { type: 'invalid_request_error' }), 'unauthorized'],
    ['forbidden', refusal(403, { type: 'invalid_request_error' }), 'unauthorized'],
    ['rate limited', refusal(429, { type: 'invalid_request_error', code: 'rate_limit' }), 'rate_limit'],
    ['answered 500', refusal(500, { type: 'api_error' }), 'http_500'],
    ['malformed', refusal(400, { type: 'invalid_request_error', code: 'parameter_unknown' }), 'parameter_unknown'],
    [
      'not found by something in between',
      (_request, response) => sendJson(response, 404, '<html>'),
      'unreadable_answer',
    ],
    ['never answered', () => undefined, 'timeout'],
    ['cut', (_request, response) => response.socket?.resetAndDestroy(), 'connection_lost'],
    [
      'answered by another payment',
      (_request, response) => sendJson(response, 200, { ...INTENT, id: 'pi_2' }),
      'unreadable_answer',
    ],
    [
      'answered by a new status',
      (_request, response) => sendJson(response, 200, { ...INTENT, status: 'levitating' }),
      'unreadable_answer',
    ],
  ])('that is %s is temporary, and asked once', async (_name, script, code) => {
    const { gateway, requests } = await gatewayThat(script);
    expect(await failureOf(gateway.fetchPayment('pi_1'))).toMatchObject({ kind: 'temporary', code });
    expect(requests).toHaveLength(1);
  });

  it('of refunds turns every page, and finds ours by reference and nothing else', async () => {
    const all = Array.from({ length: 250 }, (_, n) => ({
      ...REFUND,
      id: `re_${n}`,
      metadata: n === 249 ? { paidonce_reference: 'refund:ref_1' } : {},
    }));
    const { gateway, requests } = await gatewayThat((request, response) => {
      const query = new URL(request.path, 'http://x').searchParams;
      const start = all.findIndex(({ id }) => id === query.get('starting_after')) + 1;
      const data = all.slice(start, start + Number(query.get('limit')));
      sendJson(response, 200, { object: 'list', data, has_more: start + data.length < all.length });
    });
    expect(await gateway.listRefunds('pi_1')).toHaveLength(250);
    expect(requests).toHaveLength(3);
    expect(await gateway.findRefunds('pi_1', 'refund:ref_1')).toMatchObject([{ refundId: 're_249' }]);
    expect(await gateway.findRefunds('pi_1', 'refund:ref_2')).toEqual([]);
    expect(requests[0]?.path).toContain('payment_intent=pi_1');
    await gateway.listRefunds('ch_1');
    expect(requests.at(-1)?.path).toContain('charge=ch_1');
  });

  it('of refunds that cannot be understood whole is no list: absent would be a lie', async () => {
    const odd = { object: 'list', data: [REFUND, { ...REFUND, id: 're_2', amount: 1.5 }], has_more: false };
    const { gateway } = await gatewayThat((_request, response) => sendJson(response, 200, odd));
    expect(await failureOf(gateway.findRefunds('pi_1', 'refund:ref_1'))).toMatchObject({ kind: 'temporary' });
  });

  it('looks for a prepared payment by search, and where that is not offered through the newest', async () => {
    const mine = {
      ...INTENT,
      client_secret: 's',
      metadata: { order_id: "ord_'1", paidonce_reference: "checkout:ord_'1:1" },
    };
    const { gateway, requests } = await gatewayThat((request, response) => {
      const offered = requests.length === 1;
      if (request.path.startsWith('/v1/payment_intents/search') && !offered) {
        return sendJson(response, 400, { error: { type: 'invalid_request_error' } });
      }
      return sendJson(response, 200, {
        object: 'list',
        data: [{ ...mine, id: 'pi_2', metadata: {} }, mine],
        has_more: false,
      });
    });
    const found = [{ payment: { paymentId: 'pi_1' }, checkoutUrl: null, clientSecret: 's' }];
    expect(await gateway.findPayments("checkout:ord_'1:1", "ord_'1")).toMatchObject(found);
    const query = new URL(requests[0]?.path ?? '', 'http://x').searchParams.get('query');
    expect(query).toBe("metadata['paidonce_reference']:'checkout:ord_\\'1:1'");
    expect(await gateway.findPayments("checkout:ord_'1:1", "ord_'1")).toMatchObject(found);
    expect(requests).toHaveLength(3);
    expect(await gateway.findPayments("checkout:ord_'1:1", 'ord_2')).toEqual([]);
  });

  it('keeps a path before /v1 of a configured API', async () => {
    const { requests } = await gatewayThat((_request, response) => sendJson(response, 200, INTENT));
    await gatewayAt(`${servers[0]?.url ?? ''}/stripe/v1/`).fetchPayment('pi_1');
    expect(requests[0]?.path).toMatch(/^\/stripe\/v1\/payment_intents\/pi_1/);
  });
});

it('a source of each kind gets its adapter', () => {
  const config = {
    name: 'shop',
    mode: 'test',
    apiBase: 'http://127.0.0.1:1',
    apiKey: 'a:b',
    accountNumber: null,
    webhookSecrets: [],
  } as const;
  const kinds = ['stripe', 'razorpay', 'standard'] as const;
  const prepares = kinds.map(
    (kind) => createGateway({ ...config, kind }, { toleranceMs: 1 }).capabilities.preparesPayments,
  );
  expect(prepares).toEqual([true, false, true]);
});

async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
  await new Promise((resolve) => server.close(resolve));
  return port;
}
