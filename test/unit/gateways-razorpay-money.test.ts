import { describe, expect, it } from 'vitest';
import type { PayoutOrder } from '../../src/gateways/gateway.ts';
import { payoutIdempotencyKey, payoutReferenceId } from '../../src/gateways/razorpay/payout-keys.ts';
import { uuidV5 } from '../../src/gateways/razorpay/uuid-v5.ts';
import { answering, failureOf, gatewayThat, SINCE } from '../support/scripted-gateway.ts';
import { sendJson, type Script } from '../support/scripted-server.ts';

const REFERENCE = 'payout:seller_1:2026-11-30';
const PAYOUT = {
  id: 'pout_1',
  entity: 'payout',
  fund_account_id: 'fa_1',
  amount: 90_000,
  currency: 'INR',
  status: 'processing',
  reference_id: REFERENCE,
  notes: { paidonce_reference: REFERENCE },
};
const FACTS = {
  payoutId: 'pout_1',
  amount: 90_000n,
  currency: 'INR',
  status: 'pending',
  reference: REFERENCE,
  failureCode: null,
};
const ORDER: PayoutOrder = {
  sellerId: 'seller_1',
  destination: 'fa_1',
  amount: 90_000n,
  currency: 'INR',
  reference: REFERENCE,
  idempotencyKey: REFERENCE,
};

const razorpayThat = (script: Script, accountNumber: string | null = '7878780080316316', timeoutMs?: number) =>
  gatewayThat({ name: 'rzp', kind: 'razorpay', accountNumber }, script, timeoutMs);

/** Answers the payout as the test says, and shows a fund account of a type. */
function payingOut(answer: Script, accountType = 'bank_account'): Script {
  return (request, response) =>
    request.path.startsWith('/v1/fund_accounts/')
      ? sendJson(response, 200, { id: 'fa_1', entity: 'fund_account', account_type: accountType })
      : answer(request, response);
}

function refusal(status: number, description: string, code = 'BAD_REQUEST_ERROR'): Script {
  return (_request, response) => sendJson(response, status, { error: { code, description, reason: 'NA' } });
}

describe('a payout at Razorpay', () => {
  it('goes to a fund account under a derived key, our reference and our note', async () => {
    const { gateway, requests } = await razorpayThat(payingOut(answering(PAYOUT)));
    expect(gateway.capabilities.paysOut).toBe(true);
    expect(await gateway.createPayout(ORDER)).toEqual(FACTS);
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /v1/fund_accounts/fa_1',
      'POST /v1/payouts',
    ]);
    expect(requests[1]?.headers['x-payout-idempotency']).toBe(payoutIdempotencyKey(REFERENCE));
    expect(JSON.parse(requests[1]?.body ?? '')).toEqual({
      account_number: '7878780080316316',
      fund_account_id: 'fa_1',
      amount: 90_000,
      currency: 'INR',
      mode: 'IMPS',
      purpose: 'payout',
      queue_if_low_balance: false,
      reference_id: REFERENCE,
      notes: { paidonce_reference: REFERENCE },
    });
  });

  it.each([
    ['bank_account', 20_000_000n, 'IMPS'],
    ['bank_account', 20_000_001n, 'NEFT'],
    ['vpa', 90_000n, 'UPI'],
  ])('to a %s of %s paise goes by %3$s', async (accountType, amount, mode) => {
    const { gateway, requests } = await razorpayThat(payingOut(answering(PAYOUT), accountType));
    await gateway.createPayout({ ...ORDER, amount });
    expect(JSON.parse(requests[1]?.body ?? '')).toMatchObject({ amount: Number(amount), mode });
  });

  it.each([
    ['pending', 'pending', null],
    ['queued', 'pending', null],
    ['scheduled', 'pending', null],
    ['processing', 'pending', null],
    ['processed', 'paid', null],
    ['reversed', 'failed', 'reversed'],
    ['rejected', 'failed', 'rejected'],
    ['cancelled', 'failed', 'cancelled'],
    ['failed', 'failed', 'failed'],
  ])('that is %s is %s', async (status, expected, failureCode) => {
    const { gateway, requests } = await razorpayThat(answering({ ...PAYOUT, status }));
    expect(await gateway.fetchPayout('pout_1')).toEqual({ ...FACTS, status: expected, failureCode });
    expect(requests[0]?.path).toBe('/v1/payouts/pout_1');
  });

  it('says why it has failed, in newer answers and in older ones', async () => {
    const failed = { ...PAYOUT, status: 'reversed', failure_reason: 'The bank is away.' };
    const details = { reason: 'beneficiary_bank_offline', description: 'The bank is away.' };
    const older = await razorpayThat(answering(failed));
    expect(await older.gateway.fetchPayout('pout_1')).toMatchObject({ failureCode: 'The bank is away.' });
    const newer = await razorpayThat(answering({ ...failed, status_details: details }));
    expect(await newer.gateway.fetchPayout('pout_1')).toMatchObject({ failureCode: 'beneficiary_bank_offline' });
  });

  it('that Razorpay does not know is none, and so is what can be no id', async () => {
    const { gateway, requests } = await razorpayThat(refusal(400, 'The id provided does not exist'));
    expect(await gateway.fetchPayout('pout_nowhere')).toBeNull();
    for (const id of ['', '..', 'pout_1/cancel', 'pout_1?x=1']) expect(await gateway.fetchPayout(id)).toBeNull();
    expect(requests).toHaveLength(1);
  });

  it.each<[string, Script, string, string, boolean]>([
    [
      'too little balance',
      refusal(400, 'Your account does not have enough balance to carry out the payout operation.'),
      'rejected',
      'insufficient_balance',
      false,
    ],
    [
      'another body under the key',
      refusal(400, 'Another idempotency key is needed'),
      'rejected',
      'idempotency_key_reused',
      true,
    ],
    ['not allowed from here', refusal(401, 'Authentication failed'), 'rejected', 'BAD_REQUEST_ERROR', true],
    ['still at work under the key', refusal(409, 'in progress'), 'unknown', 'request_in_progress', false],
    ['lost behind them', refusal(400, 'Oops', 'GATEWAY_ERROR'), 'unknown', 'GATEWAY_ERROR', false],
    ['an error of theirs', refusal(500, 'Oops', 'SERVER_ERROR'), 'unknown', 'SERVER_ERROR', false],
    ['cut', (_request, response) => response.socket?.destroy(), 'unknown', 'connection_lost', false],
    ['no payout', answering({ entity: 'refund', id: 'rfnd_1' }), 'unknown', 'unreadable_answer', false],
    ['a new state', answering({ ...PAYOUT, status: 'levitating' }), 'unknown', 'unreadable_answer', false],
  ])('%s', async (_name, script, kind, code, ourFault) => {
    const { gateway, requests } = await razorpayThat(payingOut(script));
    expect(await failureOf(gateway.createPayout(ORDER))).toMatchObject({ kind, code, ourFault });
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it('that is never answered is unknown', async () => {
    const { gateway } = await razorpayThat(
      payingOut(() => undefined),
      '1',
      1_000,
    );
    expect(await failureOf(gateway.createPayout(ORDER))).toMatchObject({ kind: 'unknown', code: 'timeout' });
  });

  it.each<[string, Partial<PayoutOrder>, Script, string]>([
    ['the number of a bank account', { destination: '765432123456789' }, answering(PAYOUT), 'unknown_destination'],
    ['a fund account that is not there', {}, refusal(400, 'The id provided does not exist'), 'unknown_destination'],
    ['a wallet', {}, payingOut(answering(PAYOUT), 'wallet'), 'not_supported'],
    ['euros', { currency: 'EUR' }, answering(PAYOUT), 'not_supported'],
    ['nothing', { amount: 0n }, answering(PAYOUT), 'amount_not_exact'],
    ['more than JSON carries', { amount: 2n ** 53n }, answering(PAYOUT), 'amount_not_exact'],
  ])('to or of %s is refused before it is sent', async (_name, wrong, script, code) => {
    const { gateway, requests } = await razorpayThat(script);
    const error = await failureOf(gateway.createPayout({ ...ORDER, ...wrong }));
    expect(error).toMatchObject({ kind: 'rejected', code, ourFault: true });
    expect(error.message).not.toContain('765432123456789');
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(0);
  });

  it('is not sent while its fund account cannot be looked at', async () => {
    const { gateway, requests } = await razorpayThat(refusal(500, 'Oops'));
    expect(await failureOf(gateway.createPayout(ORDER))).toMatchObject({ kind: 'temporary' });
    expect(requests).toHaveLength(1);
  });

  it('needs an account to pay from', async () => {
    const { gateway, requests } = await razorpayThat(answering(PAYOUT), null);
    expect(gateway.capabilities.paysOut).toBe(false);
    const refused = { kind: 'rejected', code: 'not_supported', ourFault: true };
    expect(await failureOf(gateway.createPayout(ORDER))).toMatchObject(refused);
    expect(await failureOf(gateway.findPayouts(REFERENCE, SINCE))).toMatchObject(refused);
    expect(requests).toHaveLength(0);
  });
});

describe('the look-up of a payout', () => {
  it.each<[string, Script]>([
    ['one of ours cannot be understood', answering({ items: [{ ...PAYOUT, status: 'levitating' }] })],
    ['the same page comes again', answering({ items: [{ ...PAYOUT, reference_id: 'another' }] })],
    ['an entry is no object', answering({ items: [null] })],
    ['the answer is no list', answering(PAYOUT)],
    ['there is no such list', (_request, response) => sendJson(response, 404, {})],
    ['Razorpay says that it knows no such list', refusal(400, 'The id provided does not exist')],
    ['Razorpay is down', refusal(502, 'Oops')],
  ])('is temporary where %s: absent would be a guess', async (_name, script) => {
    const { gateway } = await razorpayThat(script);
    expect(await failureOf(gateway.findPayouts(REFERENCE, SINCE))).toMatchObject({ kind: 'temporary' });
  });
});

describe('what Razorpay is told instead of our key and our reference', () => {
  it('is a UUID of the key, the same on every machine', () => {
    expect(uuidV5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com')).toBe(
      '2ed6657d-e927-568b-95e1-2665a8aea6a2',
    );
    // Spelt out, because another value for the same key would be a second payout.
    expect(payoutIdempotencyKey(REFERENCE)).toBe('5fc7ddfd-2237-508d-a82a-8ac798655b2d');
    expect(payoutIdempotencyKey(`${REFERENCE}#2`)).not.toBe(payoutIdempotencyKey(REFERENCE));
  });

  it('is the reference where it fits into 40 characters, else one derived from it', () => {
    expect(payoutReferenceId('r'.repeat(40))).toBe('r'.repeat(40));
    expect(payoutReferenceId('r'.repeat(41))).toMatch(/^[0-9a-f]{40}$/);
    expect(payoutReferenceId('r'.repeat(41))).not.toBe(payoutReferenceId('r'.repeat(42)));
  });
});

describe('a saved card at Razorpay', () => {
  it('is not charged, and nothing is sent', async () => {
    const { gateway, requests } = await razorpayThat(answering({}));
    expect(gateway.capabilities.chargesSavedCards).toBe(false);
    const charge = { ...ORDER, orderId: null, customerId: 'cust_1', paymentMethod: 'token_1' };
    const refused = { kind: 'rejected', code: 'not_supported', ourFault: true };
    expect(await failureOf(gateway.chargeSavedCard(charge))).toMatchObject(refused);
    expect(await failureOf(gateway.findCharges('charge:ch1', 'cust_1', SINCE))).toMatchObject(refused);
    expect(requests).toHaveLength(0);
  });
});
