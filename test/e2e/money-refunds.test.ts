import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { refund as refundSchema } from '../../src/api/schemas/money.ts';
import { openMoneySystem, type MoneySystem } from '../support/money-system.ts';

let system: MoneySystem;
beforeAll(async () => {
  system = await openMoneySystem();
});
afterAll(() => system.close());
afterEach(() => system.faults({}));

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
const refund = (key: string, body: object) => system.post('/v1/refunds', { key, body: { source: 'sim', ...body } });

async function refundsOf(paymentId: string) {
  return (await system.atGateway()).refunds.filter((one) => one['payment_id'] === paymentId);
}

describe('a refund', () => {
  it('is made at the gateway, answered as documented, and shown the same afterwards', async () => {
    const { orderId, paymentId } = await system.paid('whole');
    const made = await refund('whole', { payment_id: paymentId, amount: 2_500, reason: 'too late' });
    expect(made.status).toBe(201);
    expect(refundSchema.safeParse(made.body).error).toBeUndefined();
    expect(made.body).toMatchObject({
      ...{ status: 'succeeded', amount: 2_500, currency: 'EUR', source: 'sim', payment_id: paymentId },
      ...{ order_id: orderId, kind: 'requested', reason: 'too late', failure_code: null },
    });
    expect(made.body.id).toMatch(/^rf_[0-9a-f]{24}$/);
    expect(made.body.workflow_id).toBe(`refund:${made.body.id}`);
    const [atGateway, ...none] = await refundsOf(paymentId);
    expect(none).toEqual([]);
    expect(atGateway).toMatchObject({
      ...{ refund_id: made.body.gateway_refund_id, amount: 2_500, status: 'succeeded' },
      reference: made.body.workflow_id,
    });
    expect(made.headers.get('location')).toBe(`/v1/refunds/${made.body.id}`);
    expect((await system.get(`/v1/refunds/${made.body.id}`)).text).toBe(made.text);
    const order = await system.get(`/v1/orders/${orderId}`);
    expect(order.body).toMatchObject({ status: 'paid', amount_refunded: 2_500 });
    expect(order.body.refunds).toMatchObject([{ id: made.body.id, kind: 'requested', status: 'succeeded' }]);
  });

  it('without an amount gives back all that is still refundable, and no more', async () => {
    const { paymentId } = await system.paid('rest');
    await refund('rest-1', { payment_id: paymentId, amount: 4_000 });
    expect(await refund('rest-2', { payment_id: paymentId })).toMatchObject({ status: 201, body: { amount: 6_000 } });
    expect(await refund('rest-3', { payment_id: paymentId })).toMatchObject({
      ...{ status: 422, body: { code: 'refund_exceeds_captured' } },
    });
  });

  it('of the same amount under another key is another refund', async () => {
    const { paymentId } = await system.paid('twins');
    const [one, other] = await Promise.all([
      refund('twin-1', { payment_id: paymentId, amount: 1_000 }),
      refund('twin-2', { payment_id: paymentId, amount: 1_000 }),
    ]);
    expect([one.status, other.status]).toEqual([201, 201]);
    expect(one.body.id).not.toBe(other.body.id);
    expect(await refundsOf(paymentId)).toHaveLength(2);
  });

  it('that the gateway has taken but not yet carried out is answered as pending, and follows', async () => {
    const { paymentId } = await system.paid('days');
    await system.faults({ pending: { chance: 1, calls: ['refunds.writes'], complete_ms: [1_500, 1_500] } });
    const began = performance.now();
    const made = await refund('days', { payment_id: paymentId });
    expect(made).toMatchObject({ status: 201, body: { status: 'pending' } });
    expect(made.body.gateway_refund_id).toEqual(expect.any(String));
    expect(performance.now() - began).toBeLessThan(5_000);
    await system.shows(`/v1/refunds/${made.body.id}`, { status: 'succeeded' });
  });

  it('that the gateway rejects is answered 202 and put before a human, its money still held', async () => {
    const { paymentId } = await system.paid('broke');
    await system.faults({
      refuse: { chance: 1, calls: ['refunds.writes'], status: 402, code: 'insufficient_balance' },
    });
    const made = await refund('broke', { payment_id: paymentId });
    expect(made).toMatchObject({ status: 202, body: { status: 'needs_review', failure_code: 'insufficient_balance' } });
    expect(made.headers.get('location')).toBe(`/v1/refunds/${made.body.id}`);
    expect(Number(made.headers.get('retry-after'))).toBeGreaterThan(0);
    const { body } = await system.get('/v1/dead-letters');
    expect(body.data.find((one: { refund_id: string }) => one.refund_id === made.body.id)).toMatchObject({
      ...{ kind: 'refund_failed', payment_id: paymentId, amount: 10_000, choices: ['retry', 'resolve', 'give_up'] },
    });
    expect((await refund('broke-2', { payment_id: paymentId, amount: 1 })).status).toBe(422);
  });

  it('that was rejected, whose cause was repaired, and that a human orders anew is made once', async () => {
    const { paymentId } = await system.paid('repaired');
    const refuse = { chance: 1, calls: ['refunds.writes'], next: 1, status: 402, code: 'insufficient_balance' };
    await system.faults({ refuse });
    const made = await refund('repaired', { payment_id: paymentId });
    expect(made.body.status).toBe('needs_review');
    // The gateway goes on answering the used key with its refusal: only a new one is heard.
    const letter = encodeURIComponent(`refund_failed:${made.body.id}`);
    const decided = await system.post(`/v1/dead-letters/${letter}/decide`, {
      body: { action: 'retry', note: 'the balance was topped up' },
    });
    expect(decided.status).toBe(200);
    await system.shows(`/v1/refunds/${made.body.id}`, { status: 'succeeded' });
    expect(await refundsOf(paymentId)).toMatchObject([{ amount: 10_000, reference: made.body.workflow_id }]);
    const again = await refund('repaired', { payment_id: paymentId });
    expect([again.status, again.text]).toEqual([202, made.text]);
  });
});

describe('what cannot be refunded', () => {
  it('is refused with a code of its own, and nothing is kept under the key', async () => {
    const { orderId, paymentId } = await system.paid('refused');
    await system.db.pool.query(
      `insert into payments (source, payment_id, order_id, status, amount, currency, outcome)
       values ('sim', 'pay_open', $1, 'pending', 100, 'EUR', 'pending')`,
      [orderId],
    );
    const cases = [
      [{ payment_id: 'pay_nobody' }, 404, 'payment_not_found'],
      [{ payment_id: paymentId, source: 'nobody' }, 404, 'payment_not_found'],
      [{ payment_id: 'pay_open' }, 422, 'payment_not_refundable'],
      [{ payment_id: paymentId, amount: 10_001 }, 422, 'refund_exceeds_captured'],
      [{ payment_id: paymentId, amount: 0 }, 422, 'validation_failed'],
      [{ payment_id: paymentId, amount: 1.5 }, 422, 'validation_failed'],
      [{ payment_id: paymentId, amout: 1 }, 422, 'validation_failed'],
    ] as const;
    for (const [body, status, code] of cases) {
      expect(await refund('refused', body)).toMatchObject({ status, body: { code } });
    }
    expect(await system.count(`idempotency_keys where key = 'refused'`)).toBe(0);
    expect(await system.count(`refunds where payment_id = $1`, paymentId)).toBe(0);
    expect((await refund('refused', { payment_id: paymentId, amount: 10_000 })).status).toBe(201);
  });

  it('names every mistake at once', async () => {
    const { status, body } = await refund('mistakes', { source: 3, payment_id: 'ä', amount: -1, extra: true });
    expect(status).toBe(422);
    expect(body.errors.map((one: { path: string }) => one.path).toSorted()).toEqual([
      ...['amount', 'extra', 'payment_id', 'source'],
    ]);
  });

  it('needs a key, and the scope', async () => {
    const body = { source: 'sim', payment_id: 'pay_1' };
    expect(await system.post('/v1/refunds', { body })).toMatchObject({ body: { code: 'idempotency_key_required' } });
    expect(await system.get('/v1/refunds/rf_nobody')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await system.get('/v1/refunds/%00')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });
});

describe('the sum of the refunds of a payment', () => {
  it('never exceeds what was captured when two ask for 60 of 100 at once', async () => {
    for (const round of numbers(10)) {
      const { paymentId } = await system.paid(`sixty_${round}`, 100);
      const answers = await Promise.all(
        [0, 1].map((n) => refund(`sixty-${round}-${n}`, { payment_id: paymentId, amount: 60 })),
      );
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 422]);
      expect(answers.find(({ status }) => status === 422)?.body.code).toBe('refund_exceeds_captured');
      expect((await refundsOf(paymentId)).map((one) => one['amount'])).toEqual([60]);
    }
  });

  it('reserves exactly ten of fifty refunds of 10 on 100', async () => {
    const { paymentId } = await system.paid('fifty', 100);
    const answers = await Promise.all(
      numbers(50).map((n) => refund(`fifty-${n}`, { payment_id: paymentId, amount: 10 })),
    );
    const taken = answers.filter(({ status }) => status === 201 || status === 202);
    expect(taken).toHaveLength(10);
    expect(answers.filter(({ body }) => body.code === 'refund_exceeds_captured')).toHaveLength(40);
    await Promise.all(taken.map(({ body }) => system.shows(`/v1/refunds/${body.id}`, { status: 'succeeded' })));
    expect((await refundsOf(paymentId)).map((one) => one['amount'])).toEqual(Array(10).fill(10));
    expect(await system.count(`refunds where payment_id = $1`, paymentId)).toBe(10);
  });
});
