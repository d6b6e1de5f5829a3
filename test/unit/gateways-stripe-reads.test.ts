import { describe, expect, it } from 'vitest';
import { createGateway } from '../../src/gateways/create-gateway.ts';
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
const INTENT = {
  id: 'pi_1',
  object: 'payment_intent',
  amount: 1999,
  currency: 'eur',
  status: 'succeeded',
  metadata: {},
};

/** Stripe with one payment and the Checkout sessions that made it. */
function showing(payment: object, sessions: object[] = []): Script {
  return ({ path }, response) => {
    const list = { object: 'list', data: sessions, has_more: false };
    return sendJson(response, 200, path.includes('/v1/checkout/sessions') ? list : payment);
  };
}

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
    const { gateway, requests } = await stripeThat((_request, response) =>
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
    const { gateway } = await stripeThat(showing(bare));
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
    const { gateway } = await stripeThat((_request, response) => sendJson(response, 200, charge));
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
    const { gateway } = await stripeThat((_request, response) => sendJson(response, 200, charge));
    expect(await gateway.fetchPayment('ch_1')).toBeNull();
  });

  it('of an unknown payment is null, and of what cannot be an id is null without asking', async () => {
    const { gateway, requests } = await stripeThat(
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
    const { gateway, requests } = await stripeThat(script);
    expect(await shopFailureOf(gateway.fetchPayment('pi_1'))).toMatchObject({ kind: 'temporary', code });
    expect(requests).toHaveLength(1);
  });

  it.each([
    ['metadata', { client_reference_id: 'ord_2', metadata: { order_id: 'ord_1' } }, 'ord_1'],
    ['client reference', { client_reference_id: 'ord_1', metadata: {} }, 'ord_1'],
    ['client reference, where its metadata is empty', { client_reference_id: 'ord_1', metadata: null }, 'ord_1'],
    ['nothing', { client_reference_id: null, metadata: {} }, null],
    ['nothing that is an id', { client_reference_id: 'ord 1', metadata: {} }, null],
  ])('finds the order of a payment that names none in its Checkout session: %s', async (_name, session, orderId) => {
    const { gateway, requests } = await stripeThat(showing(INTENT, [session]));
    expect(await gateway.fetchPayment('pi_1')).toMatchObject({ paymentId: 'pi_1', orderId });
    expect(requests.at(-1)?.path).toBe('/v1/checkout/sessions?payment_intent=pi_1&limit=1');
  });

  it('asks for no Checkout session where the payment itself names its order, or is a charge', async () => {
    const named = await stripeThat(showing({ ...INTENT, metadata: { order_id: 'ord_1' } }));
    expect(await named.gateway.fetchPayment('pi_1')).toMatchObject({ orderId: 'ord_1' });
    expect(named.requests).toHaveLength(1);
    const charge = { ...INTENT, id: 'ch_1', object: 'charge', captured: true };
    const direct = await stripeThat(showing(charge));
    expect(await direct.gateway.fetchPayment('ch_1')).toMatchObject({ orderId: null });
    expect(direct.requests).toHaveLength(1);
  });

  it('leaves the order open where an API knows no Checkout sessions, and asks again where they cannot be read', async () => {
    const without = await stripeThat(({ path }, response) => {
      if (path.startsWith('/v1/checkout')) return sendJson(response, 404, 'Not Found');
      return sendJson(response, 200, INTENT);
    });
    expect(await without.gateway.fetchPayment('pi_1')).toMatchObject({ orderId: null });
    const failing = await stripeThat((request, response) => {
      if (request.path.startsWith('/v1/checkout'))
        return refusal(403, { type: 'invalid_request_error' })(request, response);
      return sendJson(response, 200, INTENT);
    });
    expect(await shopFailureOf(failing.gateway.fetchPayment('pi_1'))).toMatchObject({
      kind: 'temporary',
      code: 'unauthorized',
    });
  });

  describe('of the refunds of a payment that was captured in part', () => {
    const charge = { id: 'ch_1', object: 'charge', amount: 10_000, amount_captured: 6_000 };
    const released = { ...REFUND, id: 're_0', amount: 4_000, charge, balance_transaction: 'txn_0' };
    const list = async (refund: object, category: string) => {
      const { gateway, requests } = await stripeThat(({ path }, response) => {
        if (path.startsWith('/v1/balance_transactions/')) {
          return sendJson(response, 200, { object: 'balance_transaction', reporting_category: category });
        }
        return sendJson(response, 200, { object: 'list', data: [refund], has_more: false });
      });
      const [found] = await gateway.listRefunds('pi_1');
      return { found, asked: requests.length - 1 };
    };

    it('calls the rest of the authorization, which older versions show as a refund, failed: nothing was given back', async () => {
      const { found } = await list(released, 'partial_capture_reversal');
      expect(found).toMatchObject({ refundId: 're_0', amount: 4000n, status: 'failed', failureCode: 'never_captured' });
    });

    it('takes a real refund of the same amount for what it is', async () => {
      const { found, asked } = await list(released, 'refund');
      expect(found).toMatchObject({ status: 'succeeded', failureCode: null });
      expect(asked).toBe(1);
    });

    it.each([
      ['of another amount', { ...released, amount: 3_999 }],
      ['of ours', { ...released, metadata: { paidonce_reference: 'refund:ref_1' } }],
      ['of a payment that was captured whole', { ...released, charge: { ...charge, amount_captured: 10_000 } }],
      ['of a charge that does not say', { ...released, charge: { id: 'ch_1' } }],
      ['of a charge that is not shown', { ...released, charge: 'ch_1' }],
      ['that is pending', { ...released, status: 'pending' }],
    ])('asks nothing more about a refund %s', async (_name, refund) => {
      const { found, asked } = await list(refund, 'partial_capture_reversal');
      expect(found?.status).not.toBe('failed');
      expect(asked).toBe(0);
    });
  });

  it('of refunds turns every page, and finds ours by reference and nothing else', async () => {
    const all = Array.from({ length: 250 }, (_, n) => ({
      ...REFUND,
      id: `re_${n}`,
      metadata: n === 249 ? { paidonce_reference: 'refund:ref_1' } : {},
    }));
    const { gateway, requests } = await stripeThat((request, response) => {
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
    const { gateway } = await stripeThat((_request, response) => sendJson(response, 200, odd));
    expect(await shopFailureOf(gateway.findRefunds('pi_1', 'refund:ref_1'))).toMatchObject({ kind: 'temporary' });
  });

  it.each([
    ['says that more follows, and shows nothing', { data: [], has_more: true }],
    ['does not say whether more follows', { data: [] }],
    ['leads round in a circle', { data: [REFUND], has_more: true }],
  ])('of refunds that %s proves nothing absent, and is not asked for ever', async (_what, page) => {
    const { gateway, requests } = await stripeThat((_request, response) =>
      sendJson(response, 200, { object: 'list', ...page }),
    );
    expect(await shopFailureOf(gateway.findRefunds('pi_1', 'refund:ref_9'))).toMatchObject({ kind: 'temporary' });
    expect(requests.length).toBeLessThanOrEqual(2);
  });

  it('looks for a prepared payment by search, and where that is not offered through the newest', async () => {
    const mine = {
      ...INTENT,
      client_secret: 's',
      metadata: { order_id: "ord_'1", paidonce_reference: "checkout:ord_'1:1" },
    };
    const { gateway, requests } = await stripeThat((request, response) => {
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
    const { requests, url } = await stripeThat(showing(INTENT));
    await stripeAt(`${url}/stripe/v1/`).fetchPayment('pi_1');
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
