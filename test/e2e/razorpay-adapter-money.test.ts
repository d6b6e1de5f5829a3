import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Gateway, PayoutOrder } from '../../src/gateways/gateway.ts';
import { createRazorpayGateway } from '../../src/gateways/razorpay/create-razorpay-gateway.ts';
import { startRazorpayStandIn, type RazorpayStandIn } from '../support/razorpay-stand-in.ts';
import { SINCE } from '../support/scripted-gateway.ts';

describe('payouts of the Razorpay adapter, against a stand-in of Razorpay', () => {
  let razorpay: RazorpayStandIn;
  let gateway: Gateway;
  let destination: string;
  let seller = 0;

  beforeAll(async () => {
    razorpay = await startRazorpayStandIn();
    gateway = createRazorpayGateway({
      name: 'razorpay',
      kind: 'razorpay',
      mode: 'test',
      apiBase: razorpay.url,
      apiKey: razorpay.apiKey,
      accountNumber: razorpay.payouts.accountNumber,
      webhookSecrets: [],
    });
  });

  beforeEach(() => {
    seller++;
    destination = razorpay.payouts.addFundAccount('bank_account');
    razorpay.payouts.begins = 'processing';
    razorpay.payouts.balance = 1_000_000_000;
    razorpay.payouts.largestPage = 100;
  });

  afterAll(() => razorpay.close());

  function payoutOf(more: Partial<PayoutOrder> = {}): PayoutOrder {
    const reference = `payout:a_seller_with_a_long_name_${seller}:2026-11-30`;
    const money = { amount: 50_000n, currency: 'INR' };
    return { sellerId: 's', destination, ...money, reference, idempotencyKey: reference, ...more };
  }

  function paidTo(fundAccount: string): number {
    return razorpay.payouts.made.filter((payout) => payout.fund_account_id === fundAccount).length;
  }

  it('pays out once under one key, finds it by our reference and by nothing else, and sees it through', async () => {
    const first = await gateway.createPayout(payoutOf());
    expect(first).toEqual({
      payoutId: expect.stringMatching(/^pout_/),
      amount: 50_000n,
      currency: 'INR',
      status: 'pending',
      reference: payoutOf().reference,
      failureCode: null,
    });
    expect(await gateway.createPayout(payoutOf())).toEqual(first);
    expect(paidTo(destination)).toBe(1);
    expect(await gateway.findPayouts(payoutOf().reference, SINCE)).toEqual([first]);
    expect(await gateway.findPayouts('payout:nobody:2026-11-30', SINCE)).toEqual([]);
    for (const payout of razorpay.payouts.made) if (payout.id === first.payoutId) payout.status = 'processed';
    expect(await gateway.fetchPayout(first.payoutId)).toEqual({ ...first, status: 'paid' });
    expect(await gateway.fetchPayout('pout_nowhere')).toBeNull();
  });

  it('pays to a UPI address, and more than IMPS carries by NEFT', async () => {
    const vpa = razorpay.payouts.addFundAccount('vpa');
    await gateway.createPayout(payoutOf({ destination: vpa }));
    const more = { amount: 60_000_000n, reference: 'payout:large', idempotencyKey: 'payout:large' };
    await gateway.createPayout(payoutOf(more));
    expect(razorpay.payouts.made.slice(-2).map(({ mode }) => mode)).toEqual(['UPI', 'NEFT']);
  });

  it('says that another payout under the same key is no repetition', async () => {
    await gateway.createPayout(payoutOf());
    await expect(gateway.createPayout(payoutOf({ amount: 60_000n }))).rejects.toMatchObject({
      kind: 'rejected',
      code: 'idempotency_key_reused',
    });
    expect(paidTo(destination)).toBe(1);
  });

  it('calls a payout whose answer was lost unknown, has sent it once, and finds it', async () => {
    razorpay.loseNextAnswer();
    const before = razorpay.requests.length;
    await expect(gateway.createPayout(payoutOf())).rejects.toMatchObject({ name: 'GatewayError', kind: 'unknown' });
    expect(razorpay.requests.slice(before).filter(({ method }) => method === 'POST')).toHaveLength(1);
    expect(await gateway.findPayouts(payoutOf().reference, SINCE)).toMatchObject([
      { amount: 50_000n, status: 'pending' },
    ]);
    expect(paidTo(destination)).toBe(1);
  });

  it('calls a payout unknown while the first one under its key is at work', async () => {
    const release = razorpay.holdNextRefund();
    const first = gateway.createPayout(payoutOf());
    await expect.poll(() => razorpay.requests.at(-1)).toMatchObject({ method: 'POST', path: '/v1/payouts' });
    await expect(gateway.createPayout(payoutOf())).rejects.toMatchObject({
      kind: 'unknown',
      code: 'request_in_progress',
    });
    release();
    expect(await gateway.findPayouts(payoutOf().reference, SINCE)).toEqual([await first]);
    expect(paidTo(destination)).toBe(1);
  });

  it('is refused for too little balance, and granted later under another key', async () => {
    razorpay.payouts.balance = 100;
    const refused = { kind: 'rejected', code: 'insufficient_balance', ourFault: false };
    await expect(gateway.createPayout(payoutOf())).rejects.toMatchObject(refused);
    expect(await gateway.findPayouts(payoutOf().reference, SINCE)).toEqual([]);
    razorpay.payouts.balance = 1_000_000;
    const again = payoutOf({ idempotencyKey: `${payoutOf().reference}#2` });
    expect(await gateway.createPayout(again)).toMatchObject({ status: 'pending' });
  });

  it('turns the pages of all payouts under one reference, also where the pages are smaller than asked for', async () => {
    razorpay.payouts.largestPage = 2;
    const ours = await gateway.createPayout(payoutOf());
    const bears = razorpay.payouts.made.at(-1)?.reference_id ?? null;
    // Sent again from the dashboard under the same reference, without our note.
    for (let n = 0; n < 4; n++) razorpay.payouts.add({ reference_id: bears, status: 'reversed' });
    const found = await gateway.findPayouts(payoutOf().reference, SINCE);
    expect(found).toHaveLength(5);
    expect(found.at(-1)).toEqual(ours);
    expect(new Set(found.map(({ reference }) => reference))).toEqual(new Set([payoutOf().reference]));
  });
});
