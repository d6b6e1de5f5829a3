import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RefundOrder } from '../../src/gateways/gateway.ts';
import { eventually } from '../support/eventually.ts';
import type { SimSettings } from '../support/processes.ts';
import { simSettings } from '../support/processes.ts';
import { failureOf } from '../support/scripted-gateway.ts';
import { adapterOf, control, startSimulatorProcess } from '../support/simulator.ts';

let sim: SimSettings;
let adapter: ReturnType<typeof adapterOf>;

beforeAll(async () => {
  sim = await simSettings();
  await startSimulatorProcess(sim);
  adapter = adapterOf(sim);
});

beforeEach(async () => {
  await control(sim, 'POST', '/reset');
});

function faults(settings: object) {
  return control(sim, 'PUT', '/faults', settings);
}

async function captured(more: object = {}): Promise<string> {
  const payment = { order_id: 'ord_1', amount: 10_000, currency: 'EUR', deliver: false, ...more };
  return (await control<{ payment_id: string }>(sim, 'POST', '/payments', payment)).payment_id;
}

function refund(paymentId: string, more: Partial<RefundOrder> = {}): RefundOrder {
  return { paymentId, amount: 2_500n, currency: 'EUR', reference: 'rf:1', idempotencyKey: 'rf:1', ...more };
}

describe('what the gateway knows', () => {
  it('a payment is shown with all that it has', async () => {
    const id = await captured({ reference: 'checkout:1', mode: 'live', currency: 'jpy', amount: 500 });
    await adapter.createRefund(refund(id, { amount: 200n, currency: 'JPY' }));
    expect(await adapter.fetchPayment(id)).toEqual({
      paymentId: id,
      orderId: 'ord_1',
      reference: 'checkout:1',
      status: 'captured',
      amount: 500n,
      currency: 'JPY',
      amountRefunded: 200n,
      mode: 'live',
    });
  });

  it('a payment without amount and currency has none, and not zero', async () => {
    const id = await captured({ amount: null, currency: null });
    expect(await adapter.fetchPayment(id)).toMatchObject({ status: 'captured', amount: null, currency: null });
  });

  it.each(['pay_unknown', 'pay/../../sim/state?x#y', '%2e%2e', '.', '..', 'pay ñ', '\ud800', ''])(
    'nothing of a payment %j',
    async (id) => {
      expect(await adapter.fetchPayment(id)).toBeNull();
    },
  );

  it('an id with every visible character is the same there and here', async () => {
    const id = Array.from({ length: 94 }, (_, at) => String.fromCharCode(0x21 + at)).join('');
    await captured({ payment_id: id });
    const made = await adapter.createRefund(refund(id, { reference: `rf:${id}`, idempotencyKey: 'k' }));
    expect(made.paymentId).toBe(id);
    expect((await adapter.fetchPayment(id))?.paymentId).toBe(id);
    expect(await adapter.listRefunds(id)).toEqual([made]);
    expect(await adapter.findRefunds(id, `rf:${id}`)).toEqual([made]);
  });

  it('every refund of a payment, whoever began it, and ours by its reference alone', async () => {
    const [one, other] = [await captured(), await captured()];
    const ours = await adapter.createRefund(refund(one));
    await adapter.createRefund(refund(other, { reference: 'rf:2', idempotencyKey: 'rf:2' }));
    await control(sim, 'POST', '/refunds', { payment_id: one, amount: 300, status: 'pending' });
    expect(
      (await adapter.listRefunds(one)).map(({ amount, status, reference }) => [amount, status, reference]),
    ).toEqual([
      [2_500n, 'succeeded', 'rf:1'],
      [300n, 'pending', null],
    ]);
    expect(await adapter.findRefunds(one, 'rf:1')).toEqual([ours]);
    expect(await adapter.findRefunds(one, 'rf:3')).toEqual([]);
  });

  it('a refund that the bank sent back is failed, with the reason', async () => {
    const id = await captured();
    const { refundId } = await adapter.createRefund(refund(id));
    await control(sim, 'POST', `/refunds/${refundId}/fail`);
    expect(await adapter.findRefunds(id, 'rf:1')).toMatchObject([{ status: 'failed', failureCode: 'refund_failed' }]);
  });

  it('a refund of another payment under our reference is neither found nor absent', async () => {
    const [one, other] = [await captured(), await captured()];
    await adapter.createRefund(refund(one));
    expect(await failureOf(adapter.findRefunds(other, 'rf:1'))).toMatchObject({
      kind: 'temporary',
      code: 'unexpected_answer',
    });
  });
});

describe('what is asked of the gateway', () => {
  const order = {
    orderId: 'ord_1',
    amount: 4_990n,
    currency: 'EUR',
    reference: 'checkout:ord_1:1',
    idempotencyKey: 'checkout:ord_1:1',
    returnUrl: 'http://127.0.0.1:2/thanks',
  };

  it('a payment is prepared once under one key, with the way to pay it, and found by its reference', async () => {
    const prepared = await adapter.preparePayment(order);
    expect(prepared.payment).toMatchObject({
      orderId: 'ord_1',
      status: 'pending',
      amount: 4_990n,
      reference: order.reference,
    });
    expect(prepared.checkoutUrl).toBe(`${sim.url}/checkout/${prepared.payment.paymentId}`);
    expect(await adapter.preparePayment(order)).toEqual(prepared);
    expect(await adapter.findPayments(order.reference, 'ord_1')).toEqual([prepared]);
    expect(await adapter.findPayments('checkout:ord_1:2', 'ord_1')).toEqual([]);
  });

  it('a refund is made once under one key, and twice without it', async () => {
    const id = await captured();
    const first = await adapter.createRefund(refund(id));
    expect(await adapter.createRefund(refund(id))).toEqual(first);
    await adapter.createRefund(refund(id, { idempotencyKey: 'rf:1#2' }));
    expect(await adapter.findRefunds(id, 'rf:1')).toHaveLength(2);
  });

  it('another request under the same key is refused', async () => {
    const id = await captured();
    await adapter.createRefund(refund(id));
    expect(await failureOf(adapter.createRefund(refund(id, { amount: 1n })))).toMatchObject({
      kind: 'rejected',
      code: 'idempotency_key_reused',
      ourFault: false,
    });
  });

  it.each([
    [10_001n, 0, 'refund_exceeds_captured'],
    [1n, 10_000, 'already_refunded'],
  ])('a refund of %s after %i is refused: %s', async (amount, before, code) => {
    const id = await captured();
    if (before > 0) await control(sim, 'POST', '/refunds', { payment_id: id, amount: before, deliver: false });
    expect(await failureOf(adapter.createRefund(refund(id, { amount })))).toMatchObject({
      kind: 'rejected',
      code,
      ourFault: false,
    });
  });

  it('a refund of what the gateway does not know is our fault', async () => {
    expect(await failureOf(adapter.createRefund(refund('pay_unknown')))).toMatchObject({
      kind: 'rejected',
      code: 'payment_not_found',
      ourFault: true,
    });
  });

  it('an amount that JSON cannot carry is never sent', async () => {
    const id = await captured();
    const error = await failureOf(adapter.createRefund(refund(id, { amount: 9_007_199_254_740_993n })));
    expect(error).toMatchObject({ kind: 'rejected', code: 'amount_too_large', ourFault: true });
    const state = await control<{ calls: Record<string, number> }>(sim, 'GET', '/state');
    expect(state.calls).not.toHaveProperty('POST /refunds');
  });

  it('a wrong key is our fault on a write, and temporary on a read', async () => {
    const stranger = adapterOf({ ...sim, apiKey: 'wrong' });
    const id = await captured();
    expect(await failureOf(stranger.createRefund(refund(id)))).toMatchObject({
      kind: 'rejected',
      code: 'unauthorized',
      ourFault: true,
    });
    expect(await failureOf(stranger.fetchPayment(id))).toMatchObject({ kind: 'temporary', code: 'unauthorized' });
  });
});

describe('a fault during a refund', () => {
  it.each([
    ['rate_limit', { rate_limit: { retry_after: 3 } }, 'temporary', 'rate_limited', 0],
    ['error_before', { error_before: 1 }, 'unknown', 'gateway_unavailable', 0],
    ['error_after', { error_after: 1 }, 'unknown', 'gateway_broken', 1],
    ['lose_answer', { lose_answer: 1 }, 'unknown', 'connection_lost', 1],
    ['lose_answer half-way', { lose_answer: { how: 'half' } }, 'unknown', 'connection_lost', 1],
    ['lose_answer to a proxy', { lose_answer: { how: 'garble' } }, 'unknown', 'unreadable_answer', 1],
    ['refuse', { refuse: { code: 'insufficient_balance', status: 402 } }, 'rejected', 'insufficient_balance', 0],
  ])('%s', async (_fault, settings, kind, code, made) => {
    const id = await captured();
    await faults(settings);
    expect(await failureOf(adapter.createRefund(refund(id)))).toMatchObject({ kind, code });
    await faults({});
    expect(await adapter.findRefunds(id, 'rf:1')).toHaveLength(made);
  });

  it('lose_answer without an end: the time runs out, and it was done', async () => {
    const id = await captured();
    await faults({ lose_answer: { how: 'hang' } });
    expect(await failureOf(adapterOf(sim, 300).createRefund(refund(id)))).toMatchObject({
      kind: 'unknown',
      code: 'timeout',
    });
    expect(await adapter.findRefunds(id, 'rf:1')).toHaveLength(1);
  });

  it('slow_ms beyond the timeout: unknown, and it is done in the end', async () => {
    const id = await captured();
    await faults({ slow_ms: { ms: [600, 600], calls: ['refunds.writes'] } });
    expect(await failureOf(adapterOf(sim, 200).createRefund(refund(id)))).toMatchObject({
      kind: 'unknown',
      code: 'timeout',
    });
    expect(await adapter.findRefunds(id, 'rf:1')).toEqual([]);
    await eventually('the refund appears', async () => (await adapter.findRefunds(id, 'rf:1')).length === 1);
  });

  it.each(['cut', 'hang'])('late_work (%s): a look-up at once finds nothing, a later one finds it', async (how) => {
    const id = await captured();
    await faults({ late_work: { how, after_ms: [400, 400] } });
    expect(await failureOf(adapterOf(sim, 300).createRefund(refund(id)))).toMatchObject({ kind: 'unknown' });
    expect(await adapter.findRefunds(id, 'rf:1')).toEqual([]);
    await eventually('the refund appears', async () => (await adapter.findRefunds(id, 'rf:1')).length === 1);
  });

  it('Retry-After is passed on, as seconds and as a date', async () => {
    const id = await captured();
    await faults({ rate_limit: { retry_after: 3 } });
    expect((await failureOf(adapter.createRefund(refund(id)))).retryAfterMs).toBe(3_000);
    await faults({ rate_limit: { retry_after: new Date(Date.now() + 60_000).toUTCString() } });
    const { retryAfterMs } = await failureOf(adapter.fetchPayment(id));
    expect(retryAfterMs).toBeGreaterThan(50_000);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  it('a refusal stands under its key although it would be granted by now; a new key is heard', async () => {
    const id = await captured();
    await faults({ refuse: { next: 1 } });
    expect((await failureOf(adapter.createRefund(refund(id)))).code).toBe('insufficient_balance');
    expect((await failureOf(adapter.createRefund(refund(id)))).code).toBe('insufficient_balance');
    expect(await adapter.createRefund(refund(id, { idempotencyKey: 'rf:1#2' }))).toMatchObject({ status: 'succeeded' });
  });

  it('forget_keys: the same request twice is two refunds', async () => {
    const id = await captured();
    await faults({ forget_keys: 1 });
    await adapter.createRefund(refund(id));
    await adapter.createRefund(refund(id));
    expect(await adapter.findRefunds(id, 'rf:1')).toHaveLength(2);
  });

  it('pending: it ends well by itself, or by a control', async () => {
    const id = await captured();
    await faults({ pending: { complete_ms: [100, 100] } });
    expect(await adapter.createRefund(refund(id))).toMatchObject({ status: 'pending' });
    await eventually(
      'the refund succeeds',
      async () => (await adapter.findRefunds(id, 'rf:1'))[0]?.status === 'succeeded',
    );
    await faults({ pending: { complete_ms: null } });
    const { refundId } = await adapter.createRefund(refund(id, { reference: 'rf:2', idempotencyKey: 'rf:2' }));
    await control(sim, 'POST', `/refunds/${refundId}/fail`);
    expect(await adapter.findRefunds(id, 'rf:2')).toMatchObject([{ status: 'failed' }]);
  });
});

describe('a fault during a read is temporary, whatever it is', () => {
  it.each([
    [{ rate_limit: 1 }, 'rate_limited'],
    [{ error_before: { status: 500 } }, 'gateway_unavailable'],
    [{ error_after: { calls: ['reads'] } }, 'gateway_broken'],
    [{ lose_answer: { calls: ['reads'] } }, 'connection_lost'],
    [{ lose_answer: { calls: ['reads'], how: 'half' } }, 'connection_lost'],
    [{ lose_answer: { calls: ['reads'], how: 'garble' } }, 'unreadable_answer'],
    [{ lose_answer: { calls: ['reads'], how: 'hang' } }, 'timeout'],
    [{ slow_ms: [2_000, 2_000] }, 'timeout'],
  ])('%j', async (settings, code) => {
    const id = await captured();
    await faults(settings);
    const impatient = adapterOf(sim, 400);
    expect(await failureOf(impatient.fetchPayment(id))).toMatchObject({ kind: 'temporary', code });
    expect(await failureOf(impatient.findRefunds(id, 'rf:1'))).toMatchObject({ kind: 'temporary', code });
  });
});

describe('faults can be told where and how often', () => {
  it('only some calls, only so many times', async () => {
    const id = await captured();
    await faults({ error_before: { calls: ['refunds'], next: 1 } });
    expect(await adapter.fetchPayment(id)).not.toBeNull();
    expect((await failureOf(adapter.listRefunds(id))).kind).toBe('temporary');
    expect(await adapter.listRefunds(id)).toEqual([]);
    expect(await control(sim, 'GET', '/faults')).toMatchObject({ error_before: { next: 0 } });
  });

  it('one seed gives one run, another seed another', async () => {
    async function run(seed: number): Promise<string> {
      await faults({ seed, error_before: 0.5 });
      const results: string[] = [];
      for (let call = 0; call < 40; call++)
        results.push(
          await adapter.fetchPayment('pay_1').then(
            () => '.',
            () => 'x',
          ),
        );
      return results.join('');
    }
    const first = await run(7);
    expect(await run(7)).toBe(first);
    expect(await run(8)).not.toBe(first);
    expect(first.replaceAll('.', '').length).toBeGreaterThan(8);
    expect(first.replaceAll('x', '').length).toBeGreaterThan(8);
  });

  it('a mistake in them is named and changes nothing', async () => {
    await faults({ drop: 0.5 });
    await expect(faults({ drop: 2 })).rejects.toThrow('drop.chance');
    await expect(faults({ dropp: 1 })).rejects.toThrow('dropp');
    expect(await control(sim, 'GET', '/faults')).toMatchObject({ drop: { chance: 0.5 } });
  });
});
