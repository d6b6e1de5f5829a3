import { describe, expect, it } from 'vitest';
import type { PayoutOrder } from '../../src/gateways/gateway.ts';
import { answering, SINCE } from '../support/scripted-gateway.ts';
import { sendJson, type Script, type SeenRequest } from '../support/scripted-server.ts';
import { shopFailureOf, refusal, stripeThat } from '../support/scripted-stripe.ts';

/** Every answer comes, however busy the machine is. */
const patientStripe = (script: Script) => stripeThat(script, 10_000);

const REFERENCE = 'payout:seller_1:2026-11-30';
const PAYOUT = {
  id: 'po_1',
  object: 'payout',
  amount: 900,
  currency: 'eur',
  status: 'pending',
  destination: 'ba_1',
  failure_code: null,
  metadata: { paidonce_reference: REFERENCE },
};
const TRANSFER = {
  id: 'tr_1',
  object: 'transfer',
  amount: 900,
  currency: 'eur',
  reversed: false,
  destination: 'acct_1',
  metadata: { paidonce_reference: REFERENCE },
};
const FACTS = {
  payoutId: 'po_1',
  amount: 900n,
  currency: 'EUR',
  status: 'pending',
  reference: REFERENCE,
  failureCode: null,
};
const ORDER: PayoutOrder = {
  sellerId: 'seller_1',
  destination: 'ba_1',
  amount: 900n,
  currency: 'EUR',
  reference: REFERENCE,
  idempotencyKey: `${REFERENCE}#2`,
};

function formOf(request: SeenRequest | undefined): object {
  return Object.fromEntries(new URLSearchParams(request?.body));
}

describe('a payout at Stripe', () => {
  it('goes to a bank account once, under our key and our reference', async () => {
    const { gateway, requests } = await patientStripe(answering(PAYOUT));
    expect(gateway.capabilities.paysOut).toBe(true);
    expect(await gateway.createPayout(ORDER)).toEqual(FACTS);
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({
      method: 'POST',
      path: '/v1/payouts',
      headers: { 'idempotency-key': `${REFERENCE}#2` },
    });
    expect(formOf(requests[0])).toEqual({
      amount: '900',
      currency: 'eur',
      destination: 'ba_1',
      'metadata[paidonce_reference]': REFERENCE,
    });
  });

  it('goes to a connected account as a transfer, which is there at once', async () => {
    const { gateway, requests } = await patientStripe(answering(TRANSFER));
    const paid = await gateway.createPayout({ ...ORDER, destination: 'acct_1' });
    expect(paid).toEqual({ ...FACTS, payoutId: 'tr_1', status: 'paid' });
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({ path: '/v1/transfers', headers: { 'idempotency-key': `${REFERENCE}#2` } });
    expect(formOf(requests[0])).toEqual({
      amount: '900',
      currency: 'eur',
      destination: 'acct_1',
      transfer_group: REFERENCE,
      'metadata[paidonce_reference]': REFERENCE,
    });
  });

  it.each([
    ['pending', 'pending', null],
    ['in_transit', 'pending', null],
    ['paid', 'paid', null],
    ['failed', 'failed', 'account_closed'],
    ['canceled', 'failed', null],
  ])('that is %s is %s', async (status, expected, failure) => {
    const { gateway } = await patientStripe(answering({ ...PAYOUT, status, failure_code: failure }));
    expect(await gateway.fetchPayout('po_1')).toEqual({ ...FACTS, status: expected, failureCode: failure });
  });

  it('that was taken back from a connected account has failed', async () => {
    const { gateway, requests } = await patientStripe(answering({ ...TRANSFER, reversed: true }));
    expect(await gateway.fetchPayout('tr_1')).toMatchObject({ status: 'failed', failureCode: 'reversed' });
    expect(requests[0]?.path).toBe('/v1/transfers/tr_1');
  });

  it('that Stripe does not know is none, and so is what can be no id', async () => {
    const { gateway, requests } = await patientStripe(refusal(404, { type: 'invalid_request_error' }));
    expect(await gateway.fetchPayout('po_1')).toBeNull();
    expect(await gateway.fetchPayout('../balance')).toBeNull();
    expect(requests).toHaveLength(1);
  });

  it.each<[string, Script]>([
    ['another payout', answering({ ...PAYOUT, id: 'po_2' })],
    ['a payout in a new state', answering({ ...PAYOUT, status: 'levitating' })],
    ['a payout without an amount', answering({ ...PAYOUT, amount: null })],
    ['an error', refusal(500, { type: 'api_error' })],
  ])('that is shown as %s is temporary', async (_name, script) => {
    const { gateway } = await patientStripe(script);
    expect(await shopFailureOf(gateway.fetchPayout('po_1'))).toMatchObject({ kind: 'temporary' });
  });

  it.each<[string, Script, string, string, boolean]>([
    [
      'too little balance',
      refusal(400, { type: 'invalid_request_error', code: 'balance_insufficient' }),
      'rejected',
      'insufficient_balance',
      false,
    ],
    [
      'no such account',
      refusal(400, { type: 'invalid_request_error', code: 'resource_missing' }),
      'rejected',
      'resource_missing',
      true,
    ],
    [
      'still at work under the key',
      refusal(409, { type: 'idempotency_error' }),
      'unknown',
      'request_in_progress',
      false,
    ],
    ['an error of theirs', refusal(500, { type: 'api_error' }), 'unknown', 'http_500', false],
    ['cut', (_request, response) => response.socket?.resetAndDestroy(), 'unknown', 'connection_lost', false],
    ['answered by another object', answering(TRANSFER), 'unknown', 'unreadable_answer', false],
  ])('%s', async (_name, script, kind, code, ourFault) => {
    const { gateway, requests } = await patientStripe(script);
    expect(await shopFailureOf(gateway.createPayout(ORDER))).toMatchObject({ kind, code, ourFault });
    expect(requests).toHaveLength(1);
  });

  it.each<[string, Partial<PayoutOrder>, string]>([
    ['the number of a bank account', { destination: 'DE89370400440532013000' }, 'unknown_destination'],
    ['another path', { destination: 'ba_1/../..' }, 'unknown_destination'],
    ['a fraction of a forint', { amount: 1050n, currency: 'HUF' }, 'amount_not_exact'],
    ['a currency that nobody has looked up', { amount: 1n, currency: 'CLF' }, 'amount_not_exact'],
  ])('to or of %s is refused before it is sent', async (_name, wrong, code) => {
    const { gateway, requests } = await patientStripe(answering(PAYOUT));
    const error = await shopFailureOf(gateway.createPayout({ ...ORDER, ...wrong }));
    expect(error).toMatchObject({ kind: 'rejected', code, ourFault: true });
    expect(error.message).not.toContain('DE89370400440532013000');
    expect(requests).toHaveLength(0);
  });
});

describe('the look-up of a payout', () => {
  /** Newest first, as Stripe lists. */
  function lists(payouts: readonly { readonly id: string }[], transfers: readonly { readonly id: string }[]): Script {
    return (request, response) => {
      const { pathname, searchParams } = new URL(request.path, 'http://x');
      const all = pathname === '/v1/payouts' ? payouts : transfers;
      const start = all.findIndex(({ id }) => id === searchParams.get('starting_after')) + 1;
      const data = all.slice(start, start + Number(searchParams.get('limit')));
      sendJson(response, 200, { object: 'list', data, has_more: start + data.length < all.length });
    };
  }

  it('turns every page of the payouts, asks for the transfers of its group, and goes by the reference alone', async () => {
    const others = Array.from({ length: 150 }, (_, n) => ({ ...PAYOUT, id: `po_o${n}`, metadata: {} }));
    const stranger = { ...TRANSFER, id: 'tr_2', metadata: {} };
    const { gateway, requests } = await patientStripe(lists([...others, PAYOUT], [stranger, TRANSFER]));
    expect(await gateway.findPayouts(REFERENCE, SINCE)).toEqual([
      FACTS,
      { ...FACTS, payoutId: 'tr_1', status: 'paid' },
    ]);
    expect(requests).toHaveLength(3);
    const query = new URL(requests[2]?.path ?? '', 'http://x').searchParams;
    expect(query.get('transfer_group')).toBe(REFERENCE);
    expect(await gateway.findPayouts('payout:seller_1:2026-12-01', SINCE)).toEqual([]);
  });

  it.each([{ error: { type: 'invalid_request_error' } }, '404: Not Found'])(
    'does without transfers where the API has none, and says so by %j',
    async (body) => {
      const { gateway } = await patientStripe((request, response) =>
        request.path.startsWith('/v1/transfers')
          ? sendJson(response, 404, body)
          : lists([PAYOUT], [])(request, response),
      );
      expect(await gateway.findPayouts(REFERENCE, SINCE)).toEqual([FACTS]);
    },
  );

  it.each<[string, number, object]>([
    ['/v1/payouts', 404, { error: { type: 'invalid_request_error' } }],
    ['/v1/payouts', 403, { error: { type: 'invalid_request_error' } }],
    ['/v1/transfers', 403, { error: { type: 'invalid_request_error' } }],
    ['/v1/payouts', 404, { message: 'not Stripe’s own words' }],
    ['/v1/transfers', 503, { message: 'not Stripe’s own words' }],
    ['/v1/payouts', 200, { object: 'list', data: [{ ...PAYOUT, status: 'levitating' }], has_more: false }],
  ])('is temporary where %s answers %i %j: absent would be a guess', async (path, status, body) => {
    const { gateway } = await patientStripe((request, response) =>
      request.path.startsWith(path) ? sendJson(response, status, body) : lists([], [])(request, response),
    );
    expect(await shopFailureOf(gateway.findPayouts(REFERENCE, SINCE))).toMatchObject({ kind: 'temporary' });
  });
});
