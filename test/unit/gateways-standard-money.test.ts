import { describe, expect, it } from 'vitest';
import type { ChargeOrder, PayoutOrder } from '../../src/gateways/gateway.ts';
import { answering, failureOf, gatewayThat, SINCE } from '../support/scripted-gateway.ts';
import type { Script } from '../support/scripted-server.ts';

const CHARGED = {
  payment_id: 'pay_1',
  order_id: 'ord_1',
  reference: 'charge:ch1',
  status: 'captured',
  amount: 1999,
  currency: 'EUR',
  amount_refunded: 0,
  mode: 'test',
};
const PAYMENT = {
  paymentId: 'pay_1',
  orderId: 'ord_1',
  reference: 'charge:ch1',
  status: 'captured',
  amount: 1999n,
  currency: 'EUR',
  amountRefunded: 0n,
  mode: 'test',
};
const CHARGE: ChargeOrder = {
  orderId: 'ord_1',
  customerId: 'cus_1',
  paymentMethod: 'card_1',
  amount: 1999n,
  currency: 'EUR',
  reference: 'charge:ch1',
  idempotencyKey: 'charge:ch1#2',
};

const REFERENCE = 'payout:seller_1:2026-11-30';
const PAID_OUT = { payout_id: 'po_1', status: 'pending', amount: 900, currency: 'EUR', reference: REFERENCE };
const FACTS = {
  payoutId: 'po_1',
  amount: 900n,
  currency: 'EUR',
  status: 'pending',
  reference: REFERENCE,
  failureCode: null,
};
const PAYOUT: PayoutOrder = {
  sellerId: 'seller_1',
  destination: 'bank_1',
  amount: 900n,
  currency: 'EUR',
  reference: REFERENCE,
  idempotencyKey: `${REFERENCE}#2`,
};

const inhouseThat = (script: Script) => gatewayThat({ name: 'inhouse', kind: 'standard', apiKey: 'key' }, script);

describe('a saved card at a gateway that speaks the protocol', () => {
  it('is charged once, under our key and our reference', async () => {
    const { gateway, requests } = await inhouseThat(answering(CHARGED, 201));
    expect(gateway.capabilities.chargesSavedCards).toBe(true);
    expect(await gateway.chargeSavedCard(CHARGE)).toEqual(PAYMENT);
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({
      method: 'POST',
      path: '/charges',
      headers: { 'idempotency-key': 'charge:ch1#2', authorization: 'Bearer key' },
    });
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
      order_id: 'ord_1',
      customer_id: 'cus_1',
      payment_method: 'card_1',
      amount: 1999,
      currency: 'EUR',
      reference: 'charge:ch1',
    });
  });

  it('is charged for no order where the money is for none', async () => {
    const { gateway, requests } = await inhouseThat(answering({ ...CHARGED, order_id: null }, 201));
    expect(await gateway.chargeSavedCard({ ...CHARGE, orderId: null })).toMatchObject({ orderId: null });
    expect(JSON.parse(requests[0]?.body ?? '')).not.toHaveProperty('order_id');
  });

  it.each<[string, Script, string, string, boolean]>([
    ['declined', answering({ code: 'card_declined' }, 402), 'rejected', 'card_declined', false],
    ['of nobody', answering({ code: 'customer_not_found' }, 404), 'rejected', 'customer_not_found', true],
    ['too often', answering({ code: 'rate_limited' }, 429), 'temporary', 'rate_limited', false],
    ['at a bad time', answering({ code: 'down' }, 503), 'unknown', 'down', false],
    ['cut', (_request, response) => response.socket?.destroy(), 'unknown', 'connection_lost', false],
    ['for another order', answering({ ...CHARGED, order_id: 'ord_2' }, 201), 'unknown', 'unexpected_answer', false],
    [
      'for another reference',
      answering({ ...CHARGED, reference: 'charge:ch2' }, 201),
      'unknown',
      'unexpected_answer',
      false,
    ],
    ['into a new status', answering({ ...CHARGED, status: 'levitating' }, 201), 'unknown', 'unexpected_answer', false],
  ])('%s', async (_name, script, kind, code, ourFault) => {
    const { gateway, requests } = await inhouseThat(script);
    expect(await failureOf(gateway.chargeSavedCard(CHARGE))).toMatchObject({ kind, code, ourFault });
    expect(requests).toHaveLength(1);
  });

  it('is never charged what JSON cannot carry', async () => {
    const { gateway, requests } = await inhouseThat(answering(CHARGED, 201));
    const refused = { kind: 'rejected', code: 'amount_too_large', ourFault: true };
    expect(await failureOf(gateway.chargeSavedCard({ ...CHARGE, amount: 2n ** 53n }))).toMatchObject(refused);
    expect(await failureOf(gateway.createPayout({ ...PAYOUT, amount: 2n ** 53n }))).toMatchObject(refused);
    expect(requests).toHaveLength(0);
  });

  it('is looked for by our reference, whatever else the list holds', async () => {
    const others = { ...CHARGED, payment_id: 'pay_2', reference: 'charge:ch2' };
    const failed = { ...CHARGED, payment_id: 'pay_3', status: 'failed' };
    const { gateway, requests } = await inhouseThat(answering({ data: [others, failed, CHARGED] }));
    expect(await gateway.findCharges('charge:ch1', 'cus_1', SINCE)).toEqual([
      { ...PAYMENT, paymentId: 'pay_3', status: 'failed' },
      PAYMENT,
    ]);
    expect(requests[0]?.path).toBe('/payments?reference=charge%3Ach1');
  });
});

describe('a payout at a gateway that speaks the protocol', () => {
  it('is made once, under our key and our reference', async () => {
    const { gateway, requests } = await inhouseThat(answering(PAID_OUT, 201));
    expect(gateway.capabilities.paysOut).toBe(true);
    expect(await gateway.createPayout(PAYOUT)).toEqual(FACTS);
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({
      method: 'POST',
      path: '/payouts',
      headers: { 'idempotency-key': `${REFERENCE}#2` },
    });
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
      seller_id: 'seller_1',
      amount: 900,
      currency: 'EUR',
      destination: 'bank_1',
      reference: REFERENCE,
    });
  });

  it('may be answered without what we said ourselves, and must be answered with the rest', async () => {
    const short = await inhouseThat(answering({ payout_id: 'po_1', status: 'pending' }, 201));
    expect(await short.gateway.createPayout(PAYOUT)).toEqual(FACTS);
    for (const odd of [{ payout_id: 'po_1' }, { status: 'paid' }, { ...PAID_OUT, amount: null }, [PAID_OUT]]) {
      const { gateway } = await inhouseThat(answering(odd, 201));
      const unknown = { kind: 'unknown', code: 'unexpected_answer' };
      expect(await failureOf(gateway.createPayout(PAYOUT))).toMatchObject(unknown);
    }
  });

  it.each<[string, Script, string, string, boolean]>([
    ['beyond the balance', answering({ code: 'insufficient_balance' }, 402), 'rejected', 'insufficient_balance', false],
    ['malformed', answering({ code: 'bad_request' }, 400), 'rejected', 'bad_request', true],
    ['at a bad time', answering({ code: 'down' }, 500), 'unknown', 'down', false],
    [
      'for another reference',
      answering({ ...PAID_OUT, reference: 'payout:2' }, 201),
      'unknown',
      'unexpected_answer',
      false,
    ],
  ])('%s', async (_name, script, kind, code, ourFault) => {
    const { gateway, requests } = await inhouseThat(script);
    expect(await failureOf(gateway.createPayout(PAYOUT))).toMatchObject({ kind, code, ourFault });
    expect(requests).toHaveLength(1);
  });

  it('is looked for by our reference, whatever else the list holds', async () => {
    const { gateway, requests } = await inhouseThat(answering({ data: [{ ...PAID_OUT, reference: null }, PAID_OUT] }));
    expect(await gateway.findPayouts(REFERENCE, SINCE)).toEqual([FACTS]);
    expect(requests[0]?.path).toBe('/payouts?reference=payout%3Aseller_1%3A2026-11-30');
  });

  it.each(['paid', 'failed'])('is shown as %s', async (status) => {
    const { gateway, requests } = await inhouseThat(answering({ ...PAID_OUT, status, failure_code: 'account_closed' }));
    expect(await gateway.fetchPayout('po_1')).toEqual({ ...FACTS, status, failureCode: 'account_closed' });
    expect(requests[0]?.path).toBe('/payouts/po_1');
  });

  it('that the gateway does not know is none, and so is what can be no id', async () => {
    const { gateway, requests } = await inhouseThat(answering({ code: 'payout_not_found' }, 404));
    expect(await gateway.fetchPayout('po_1')).toBeNull();
    for (const id of ['', '.', '..', 'po ñ']) expect(await gateway.fetchPayout(id)).toBeNull();
    expect(requests).toHaveLength(1);
  });
});

describe('a look-up is temporary, as absent would be a guess,', () => {
  it.each<[string, Script]>([
    ['where there is no such list', answering({ code: 'not_found' }, 404)],
    ['where the key may not read it', answering({ code: 'forbidden' }, 403)],
    ['where an entry cannot be understood', answering({ data: [{ ...CHARGED, ...PAID_OUT, status: 'levitating' }] })],
    ['where the answer is no list', answering({ ...CHARGED, ...PAID_OUT })],
    ['where it is cut', (_request, response) => response.socket?.destroy()],
  ])('%s', async (_name, script) => {
    const { gateway } = await inhouseThat(script);
    expect(await failureOf(gateway.findCharges('charge:ch1', 'cus_1', SINCE))).toMatchObject({ kind: 'temporary' });
    expect(await failureOf(gateway.findPayouts(REFERENCE, SINCE))).toMatchObject({ kind: 'temporary' });
  });

  it('where another payout is shown than was asked for', async () => {
    const { gateway } = await inhouseThat(answering({ ...PAID_OUT, payout_id: 'po_2' }));
    expect(await failureOf(gateway.fetchPayout('po_1'))).toMatchObject({ kind: 'temporary' });
  });
});

describe('a refund at a gateway that speaks the protocol', () => {
  const ORDER = {
    paymentId: 'pay_1',
    amount: 500n,
    currency: 'EUR',
    reference: 'refund:rf_1',
    idempotencyKey: 'refund:rf_1',
  };
  const REFUND = { refund_id: 're_1', payment_id: 'pay_1', amount: 500, currency: 'EUR', status: 'pending' };

  it('is ours where the answer does not repeat our reference', async () => {
    const { gateway } = await inhouseThat(answering({ ...REFUND, reference: null }, 201));
    expect(await gateway.createRefund(ORDER)).toMatchObject({ refundId: 're_1', reference: 'refund:rf_1' });
  });

  it.each([
    ['another reference', { reference: 'refund:rf_2' }],
    ['another currency', { reference: 'refund:rf_1', currency: 'USD' }],
    ['another payment', { reference: 'refund:rf_1', payment_id: 'pay_2' }],
  ])('answered by one with %s is unknown', async (_what, other) => {
    const { gateway } = await inhouseThat(answering({ ...REFUND, ...other }, 201));
    expect(await failureOf(gateway.createRefund(ORDER))).toMatchObject({ kind: 'unknown' });
  });

  it.each([
    [409, {}, 'unknown'],
    [409, { code: 'request_in_progress' }, 'unknown'],
    [425, {}, 'unknown'],
    [409, { code: 'already_refunded' }, 'rejected'],
    [409, { code: 'idempotency_key_reused' }, 'rejected'],
    [422, {}, 'rejected'],
  ])('answered %i %j is %s', async (status, body, kind) => {
    const { gateway } = await inhouseThat(answering(body, status));
    expect(await failureOf(gateway.createRefund(ORDER))).toMatchObject({ kind });
  });
});
