import { describe, expect, it } from 'vitest';
import type { ChargeOrder } from '../../src/gateways/gateway.ts';
import { answering, SINCE } from '../support/scripted-gateway.ts';
import { sendJson, type Script } from '../support/scripted-server.ts';
import { shopFailureOf, refusal, stripeThat } from '../support/scripted-stripe.ts';

/** Every answer comes, however busy the machine is. */
const patientStripe = (script: Script) => stripeThat(script, 10_000);

const INTENT = {
  id: 'pi_1',
  object: 'payment_intent',
  status: 'succeeded',
  amount: 1999,
  amount_received: 1999,
  currency: 'eur',
  livemode: false,
  metadata: { order_id: 'ord_1', paidonce_reference: 'charge:ch1' },
};
const FACTS = {
  paymentId: 'pi_1',
  orderId: 'ord_1',
  reference: 'charge:ch1',
  status: 'captured',
  amount: 1999n,
  currency: 'EUR',
  amountRefunded: null,
  mode: 'test',
};
const ORDER: ChargeOrder = {
  orderId: 'ord_1',
  customerId: 'cus_1',
  paymentMethod: 'pm_1',
  amount: 1999n,
  currency: 'EUR',
  reference: 'charge:ch1',
  idempotencyKey: 'charge:ch1#2',
};

function declinedBy(error: object): Script {
  return refusal(402, { type: 'card_error', message: 'No.', ...error });
}

describe('a saved card at Stripe', () => {
  it('is charged once, without its holder, under our key and our reference', async () => {
    const { gateway, requests } = await patientStripe(answering(INTENT));
    expect(gateway.capabilities.chargesSavedCards).toBe(true);
    expect(await gateway.chargeSavedCard(ORDER)).toEqual(FACTS);
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({
      method: 'POST',
      path: '/v1/payment_intents',
      headers: { 'idempotency-key': 'charge:ch1#2' },
    });
    expect(Object.fromEntries(new URLSearchParams(requests[0]?.body))).toEqual({
      amount: '1999',
      currency: 'eur',
      customer: 'cus_1',
      payment_method: 'pm_1',
      confirm: 'true',
      off_session: 'true',
      'metadata[order_id]': 'ord_1',
      'metadata[paidonce_reference]': 'charge:ch1',
    });
  });

  it('is charged for no order where the money is for none', async () => {
    const { gateway, requests } = await patientStripe(answering({ ...INTENT, metadata: {} }));
    expect(await gateway.chargeSavedCard({ ...ORDER, orderId: null })).toMatchObject({ orderId: null });
    expect(requests[0]?.body).not.toContain('order_id');
  });

  it('that takes days is pending', async () => {
    const { gateway } = await patientStripe(answering({ ...INTENT, status: 'processing', amount_received: 0 }));
    expect(await gateway.chargeSavedCard(ORDER)).toMatchObject({ status: 'pending', amount: 1999n });
  });

  it.each<[string, Script, string]>([
    [
      'for too little money',
      declinedBy({ code: 'card_declined', decline_code: 'insufficient_funds' }),
      'insufficient_funds',
    ],
    ['for no reason', declinedBy({ code: 'card_declined', decline_code: 'generic_decline' }), 'card_declined'],
    ['as expired', declinedBy({ code: 'expired_card' }), 'expired_card'],
    ['for want of its holder', declinedBy({ code: 'authentication_required' }), 'authentication_required'],
    [
      'for want of its holder, in the older way',
      declinedBy({ code: 'card_declined', decline_code: 'authentication_required' }),
      'authentication_required',
    ],
    ['without a word', declinedBy({}), 'card_declined'],
    ['in words that are no code', declinedBy({ code: 'card_declined', decline_code: 'pas d’argent' }), 'card_declined'],
    [
      'by another type of error',
      refusal(402, { type: 'invalid_request_error', code: 'card_declined' }),
      'card_declined',
    ],
    [
      'by a payment that waits for its holder',
      answering({ ...INTENT, status: 'requires_action' }),
      'authentication_required',
    ],
    [
      'by a payment that has failed',
      answering({
        ...INTENT,
        status: 'requires_payment_method',
        last_payment_error: { code: 'card_declined', decline_code: 'lost_card' },
      }),
      'lost_card',
    ],
  ])('that is declined %s is rejected, and that is nobody’s fault', async (_name, script, code) => {
    const { gateway, requests } = await patientStripe(script);
    expect(await shopFailureOf(gateway.chargeSavedCard(ORDER))).toMatchObject({
      kind: 'rejected',
      code,
      ourFault: false,
    });
    expect(requests).toHaveLength(1);
  });

  it.each<[string, Script, string, string, boolean]>([
    [
      'no such card',
      refusal(400, { type: 'invalid_request_error', code: 'resource_missing' }),
      'rejected',
      'resource_missing',
      true,
    ],
    [
      'another request under the key',
      refusal(400, { type: 'idempotency_error' }),
      'rejected',
      'idempotency_key_reused',
      true,
    ],
    [
      'still at work under the key',
      refusal(409, { type: 'idempotency_error' }),
      'unknown',
      'request_in_progress',
      false,
    ],
    [
      'a decline that Stripe itself is not sure of',
      refusal(500, { type: 'card_error', code: 'card_declined' }),
      'unknown',
      'card_declined',
      false,
    ],
    [
      'rate limited',
      refusal(429, { type: 'invalid_request_error', code: 'rate_limit' }),
      'temporary',
      'rate_limit',
      false,
    ],
    ['cut', (_request, response) => response.socket?.resetAndDestroy(), 'unknown', 'connection_lost', false],
    ['answered by another object', answering({ object: 'charge', id: 'ch_1' }), 'unknown', 'unreadable_answer', false],
    ['answered by a new status', answering({ ...INTENT, status: 'levitating' }), 'unknown', 'unreadable_answer', false],
  ])('%s', async (_name, script, kind, code, ourFault) => {
    const { gateway, requests } = await patientStripe(script);
    expect(await shopFailureOf(gateway.chargeSavedCard(ORDER))).toMatchObject({ kind, code, ourFault });
    expect(requests).toHaveLength(1);
  });

  it('that is never answered for is unknown', async () => {
    const { gateway } = await stripeThat(() => undefined);
    expect(await shopFailureOf(gateway.chargeSavedCard(ORDER))).toMatchObject({ kind: 'unknown', code: 'timeout' });
  });

  it.each<[string, Partial<ChargeOrder>, string]>([
    ['a customer that is an address', { customerId: 'jane@example.com' }, 'unknown_customer'],
    ['a customer without a name', { customerId: '' }, 'unknown_customer'],
    ['a card by its number', { paymentMethod: '4242424242424242' }, 'unknown_payment_method'],
    ['a fraction that Stripe does not take', { amount: 1234n, currency: 'KWD' }, 'amount_not_exact'],
    ['more than JSON carries', { amount: 2n ** 53n }, 'amount_not_exact'],
  ])('is never charged for %s: nothing is sent, nothing is repeated', async (_name, wrong, code) => {
    const { gateway, requests } = await patientStripe(answering(INTENT));
    const error = await shopFailureOf(gateway.chargeSavedCard({ ...ORDER, ...wrong }));
    expect(error).toMatchObject({ kind: 'rejected', code, ourFault: true });
    for (const secret of ['jane@example.com', '4242424242424242']) expect(error.message).not.toContain(secret);
    expect(requests).toHaveLength(0);
  });
});

/** Newest first, as Stripe lists. */
function listOf(all: readonly { readonly id: string; readonly status: string }[]): Script {
  return (request, response) => {
    const query = new URL(request.path, 'http://x').searchParams;
    const start = all.findIndex(({ id }) => id === query.get('starting_after')) + 1;
    const data = all.slice(start, start + Number(query.get('limit')));
    sendJson(response, 200, { object: 'list', data, has_more: start + data.length < all.length });
  };
}

describe('the look-up of a charge', () => {
  const OTHER = { ...INTENT, metadata: {} };
  const now = Math.floor(Date.now() / 1000);

  it('turns every page of the customer’s payments, and finds ours by the reference alone', async () => {
    const all = Array.from({ length: 250 }, (_, n) => ({ ...OTHER, id: `pi_o${n}`, created: now - n }));
    const declined = {
      ...INTENT,
      id: 'pi_2',
      status: 'requires_payment_method',
      last_payment_error: {},
      created: now - 999,
    };
    const waiting = { ...INTENT, id: 'pi_3', status: 'requires_action', created: now - 999 };
    const { gateway, requests } = await patientStripe(listOf([...all, INTENT, declined, waiting]));
    expect(await gateway.findCharges('charge:ch1', 'cus_1', SINCE)).toEqual([
      FACTS,
      { ...FACTS, paymentId: 'pi_2', status: 'failed' },
      { ...FACTS, paymentId: 'pi_3', status: 'failed' },
    ]);
    expect(requests).toHaveLength(3);
    for (const { method, path } of requests) {
      expect(method).toBe('GET');
      expect(path).toMatch(/^\/v1\/payment_intents\?customer=cus_1&limit=100/);
    }
    expect(await gateway.findCharges('charge:ch', 'cus_1', SINCE)).toEqual([]);
  });

  // One an hour: a page is some four days.
  it.each([
    ['just now', 0, 1],
    ['ten days ago', 10, 3],
    ['before the first of them', 365, 4],
  ])('goes back to a day before it was reserved and no further: %s', async (_when, days, pages) => {
    const all = Array.from({ length: 350 }, (_, n) => ({ ...OTHER, id: `pi_o${n}`, created: now - n * 60 * 60 }));
    const { gateway, requests } = await patientStripe(listOf(all));
    const since = new Date((now - days * 24 * 60 * 60) * 1000);
    expect(await gateway.findCharges('charge:ch1', 'cus_1', since)).toEqual([]);
    expect(requests).toHaveLength(pages);
  });

  it('is not disturbed by a payment of others that cannot be understood', async () => {
    const { gateway } = await patientStripe(listOf([{ ...OTHER, id: 'pi_9', status: 'levitating' }, INTENT]));
    expect(await gateway.findCharges('charge:ch1', 'cus_1', SINCE)).toEqual([FACTS]);
  });

  it.each<[string, Script]>([
    ['one of ours cannot be understood', listOf([INTENT, { ...INTENT, id: 'pi_2', status: 'levitating' }])],
    ['the same page comes again', answering({ object: 'list', data: [OTHER], has_more: true })],
    ['more is said to follow nothing', answering({ object: 'list', data: [], has_more: true })],
    ['it is not said whether more follows', answering({ object: 'list', data: [OTHER] })],
    ['an entry is no object', answering({ object: 'list', data: [OTHER, 'pi_2'], has_more: false })],
    ['the answer is no list', answering(OTHER)],
    ['there is no such list', refusal(404, { type: 'invalid_request_error' })],
    ['the key may not read it', refusal(403, { type: 'invalid_request_error' })],
    ['Stripe is down', refusal(503, { type: 'api_error' })],
    ['it is cut', (_request, response) => response.socket?.resetAndDestroy()],
  ])('is temporary where %s: absent would be a guess', async (_name, script) => {
    const { gateway } = await patientStripe(script);
    expect(await shopFailureOf(gateway.findCharges('charge:ch1', 'cus_1', SINCE))).toMatchObject({ kind: 'temporary' });
  });

  it('finds nothing of a customer who is not there: nobody can have charged them', async () => {
    const missing = { type: 'invalid_request_error', code: 'resource_missing', param: 'customer' };
    const { gateway, requests } = await patientStripe(refusal(400, missing));
    expect(await gateway.findCharges('charge:ch1', 'cus_1', SINCE)).toEqual([]);
    expect(requests).toHaveLength(1);
    expect(await gateway.findCharges('charge:ch1', 'jane@example.com', SINCE)).toEqual([]);
    expect(requests).toHaveLength(1);
  });

  it('looks through all payments where the list cannot be narrowed', async () => {
    const whole = listOf([OTHER, { ...INTENT, id: 'pi_2' }]);
    const narrow = refusal(400, { type: 'invalid_request_error', message: 'Unexpected customer' });
    const { gateway, requests } = await patientStripe((request, response) =>
      (request.path.includes('customer=') ? narrow : whole)(request, response),
    );
    expect(await gateway.findCharges('charge:ch1', 'cus_1', SINCE)).toMatchObject([{ paymentId: 'pi_2' }]);
    expect(requests.map(({ path }) => path.includes('customer='))).toEqual([true, false]);
  });
});
