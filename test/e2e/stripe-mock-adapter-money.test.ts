import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../../src/gateways/gateway.ts';
import { SINCE } from '../support/scripted-gateway.ts';
import { stripeAt } from '../support/scripted-stripe.ts';
import { startStripeMock, type StripeMock } from '../support/stripe-mock.ts';

const started = await startStripeMock();
if (typeof started === 'string') {
  process.stderr.write(
    `SKIPPED: what the Stripe adapter sends for charges and payouts, against Stripe's API: ${started}\n`,
  );
}

describe.skipIf(typeof started === 'string')('what the Stripe adapter sends is taken by today’s API:', () => {
  const mock = started as StripeMock;
  let gateway: Gateway;
  beforeAll(() => {
    gateway = stripeAt(mock.url, 10_000);
  });

  afterAll(() => mock.stop());

  const charge = {
    orderId: 'ord_1',
    customerId: 'cus_1',
    paymentMethod: 'pm_1',
    amount: 1999n,
    currency: 'EUR',
    reference: 'charge:1',
    idempotencyKey: 'charge:1',
  };
  const payout = {
    sellerId: 'seller_1',
    destination: 'ba_1',
    amount: 900n,
    currency: 'EUR',
    reference: 'payout:seller_1:2026-11-30',
    idempotencyKey: 'payout:seller_1:2026-11-30',
  };

  it('a charge', async () => {
    // Its one sample of a payment has failed; a request that it does not take is our fault.
    const declined = { code: 'card_declined', ourFault: false };
    await expect(gateway.chargeSavedCard(charge)).rejects.toMatchObject(declined);
  });

  it('the look-up of a charge', async () => {
    expect(await gateway.findCharges('charge:1', 'cus_1', SINCE)).toEqual([]);
  });

  it('a payout to a bank account', async () => {
    expect(await gateway.createPayout(payout)).toMatchObject({ payoutId: expect.stringMatching(/^po_/) });
  });

  it('a payout to a connected account', async () => {
    const connected = { ...payout, destination: 'acct_1' };
    expect(await gateway.createPayout(connected)).toMatchObject({ payoutId: expect.stringMatching(/^tr_/) });
  });

  it('the look-up of a payout', async () => {
    expect(await gateway.findPayouts(payout.reference, SINCE)).toEqual([]);
  });

  it.each(['po_1', 'tr_1'])('a question about %s', async (id) => {
    expect(await gateway.fetchPayout(id)).toMatchObject({ payoutId: id });
  });

  it.each(['pi_1', 'ch_1'])('a capture of a part of %s', async (paymentId) => {
    const order = {
      paymentId,
      amount: 10n,
      currency: 'EUR',
      reference: 'capture:shop:1',
      idempotencyKey: 'capture:shop:1',
    };
    expect(await gateway.capturePayment(order)).toMatchObject({ paymentId: expect.stringMatching(/^(pi|ch)_/) });
  });

  it('a void', async () => {
    const order = {
      paymentId: 'pi_1',
      amount: 10n,
      currency: 'EUR',
      reference: 'void:shop:1',
      idempotencyKey: 'void:shop:1',
    };
    expect(await gateway.voidPayment(order)).toMatchObject({ paymentId: expect.stringMatching(/^pi_/) });
  });

  it('and what it does not know is not taken', async () => {
    const body = new URLSearchParams({ amount: '900', currency: 'eur', destination: 'ba_1', seller: 'seller_1' });
    const headers = { authorization: 'Bearer sk_test_123' };
    const answer = await fetch(`${mock.url}/v1/payouts`, { method: 'POST', body, headers });
    expect(answer.status).toBe(400);
  });
});
