import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { charge as chargeSchema, topUp as topUpSchema } from '../../src/api/schemas/money.ts';
import { eventually } from '../support/eventually.ts';
import { type MoneySystem, openMoneySystem } from '../support/money-system.ts';

let system: MoneySystem;
beforeAll(async () => {
  system = await openMoneySystem();
});
afterAll(() => system.close());
afterEach(() => system.faults({}));

const card = { source: 'sim', customer_id: 'cus_1', payment_method: 'pm_1', currency: 'EUR' };
const charge = (key: string, body: object) => system.post('/v1/charges', { key, body: { ...card, ...body } });
const topUp = (key: string, wallet: string, body: object = {}, signal?: AbortSignal) =>
  system.post(`/v1/wallets/${wallet}/top-ups`, {
    ...{ key, body: { ...card, amount: 2_000, ...body } },
    ...(signal === undefined ? {} : { signal }),
  });

async function chargesAtGateway(reference: string) {
  return (await system.atGateway()).payments.filter((one) => one['reference'] === reference);
}

async function expectBalanceOfEntries(wallet: string, balance: number): Promise<void> {
  const entries = await system.row<{ sum: bigint }>(
    'select coalesce(sum(amount), 0)::bigint as sum from wallet_entries where wallet_id = $1',
    wallet,
  );
  expect(entries?.sum).toBe(BigInt(balance));
  expect((await system.get(`/v1/wallets/${wallet}`)).body).toEqual({ id: wallet, currency: 'EUR', balance });
}

describe('a charge of a saved card', () => {
  it('pays its order as a webhook would, and is answered as documented', async () => {
    await system.order('ord_card');
    const made = await charge('card', { order_id: 'ord_card', amount: 10_000 });
    expect(made.status).toBe(201);
    expect(chargeSchema.safeParse(made.body).error).toBeUndefined();
    expect(made.body).toMatchObject({
      ...{ status: 'succeeded', amount: 10_000, currency: 'EUR', order_id: 'ord_card', failure_code: null },
      gateway_charge_id: made.body.payment_id,
    });
    expect(made.body.id).toMatch(/^ch_[0-9a-f]{24}$/);
    expect(made.body.workflow_id).toBe(`charge:${made.body.id}`);
    expect((await system.get(`/v1/charges/${made.body.id}`)).text).toBe(made.text);
    const { body: order } = await system.get('/v1/orders/ord_card');
    expect(order).toMatchObject({ status: 'paid', amount_paid: 10_000, paid_payment_id: made.body.payment_id });
    expect(order.consequences.bookings).toHaveLength(1);
    // Its webhook comes as well, and finds everything done.
    await eventually('the webhook is processed', () =>
      system.row(`select 1 from webhook_events where payment_id = $1 and state = 'processed'`, made.body.payment_id),
    );
    expect(await chargesAtGateway(made.body.workflow_id)).toHaveLength(1);
    expect(await system.count(`bookings where order_id = 'ord_card'`)).toBe(1);
  });

  it('that is declined is an answer, and nobody is asked about it', async () => {
    await system.order('ord_declined');
    const made = await charge('declined', { order_id: 'ord_declined', amount: 10_000, payment_method: 'pm_declined' });
    expect(made).toMatchObject({ status: 201, body: { status: 'failed', failure_code: 'card_declined' } });
    expect(await system.count(`dead_letters where order_id = 'ord_declined'`)).toBe(0);
    const again = await charge('declined', { order_id: 'ord_declined', amount: 10_000, payment_method: 'pm_declined' });
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([made.text, 'true']);
    // The customer takes another card.
    const other = await charge('declined-2', { order_id: 'ord_declined', amount: 10_000 });
    expect(other.body.status).toBe('succeeded');
    expect((await system.get('/v1/orders/ord_declined')).body.status).toBe('paid');
  });

  it('of a part leaves the order partially paid, and the rest completes it', async () => {
    await system.order('ord_parts');
    expect((await charge('part-1', { order_id: 'ord_parts', amount: 4_000 })).body.status).toBe('succeeded');
    expect((await system.get('/v1/orders/ord_parts')).body.status).toBe('partially_paid');
    expect((await charge('part-2', { order_id: 'ord_parts', amount: 6_001 })).body.code).toBe('amount_exceeds_due');
    expect((await charge('part-2', { order_id: 'ord_parts', amount: 6_000 })).body.status).toBe('succeeded');
    expect((await system.get('/v1/orders/ord_parts')).body.status).toBe('paid');
  });

  it('that the gateway has taken and not settled is answered as pending, and follows its payment', async () => {
    await system.order('ord_settling');
    await system.faults({ pending: { chance: 1, calls: ['charges.writes'], complete_ms: [6_500, 6_500] } });
    const made = await charge('settling', { order_id: 'ord_settling', amount: 10_000 });
    expect(made).toMatchObject({ status: 201, body: { status: 'pending' } });
    expect(made.body.payment_id).toEqual(expect.any(String));
    await system.shows(`/v1/charges/${made.body.id}`, { status: 'succeeded' });
    expect((await system.get('/v1/orders/ord_settling')).body.status).toBe('paid');
  });

  it('whose answer is lost is one charge', async () => {
    await system.order('ord_lost');
    await system.faults({ lose_answer: { chance: 1, calls: ['charges.writes'], next: 1 }, forget_keys: 1 });
    const made = await charge('lost', { order_id: 'ord_lost', amount: 10_000 });
    expect([201, 202]).toContain(made.status);
    await system.shows(`/v1/charges/${made.body.id}`, { status: 'succeeded' }, 40_000);
    expect(await chargesAtGateway(made.body.workflow_id)).toHaveLength(1);
    expect((await system.get('/v1/orders/ord_lost')).body).toMatchObject({ status: 'paid', amount_paid: 10_000 });
  }, 60_000);

  it('is refused where the order does not take it, and nothing is kept', async () => {
    const { orderId } = await system.paid('done');
    await system.order('ord_open');
    await system.order('ord_gone');
    await system.post('/v1/orders/ord_gone/cancel');
    const cases = [
      [{ order_id: 'ord_nobody', amount: 1 }, 404, 'not_found'],
      [{ order_id: orderId, amount: 1 }, 409, 'order_not_payable'],
      [{ order_id: 'ord_gone', amount: 1 }, 409, 'order_not_payable'],
      [{ order_id: 'ord_open', amount: 1, currency: 'USD' }, 422, 'currency_mismatch'],
      [{ order_id: 'ord_open', amount: 10_001 }, 422, 'amount_exceeds_due'],
      [{ order_id: 'ord_open', amount: 1, source: 'nobody' }, 422, 'validation_failed'],
      [{ order_id: 'ord_open' }, 422, 'validation_failed'],
    ] as const;
    for (const [body, status, code] of cases) {
      expect(await charge('not-taken', body)).toMatchObject({ status, body: { code } });
    }
    expect(await system.count(`idempotency_keys where key = 'not-taken'`)).toBe(0);
    expect(await system.count(`charges where order_id in ('ord_open', 'ord_gone', $1)`, orderId)).toBe(0);
    expect(await system.get('/v1/charges/ch_nobody')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });
});

describe('a top-up', () => {
  it('makes its wallet, credits it once, and says what is in it', async () => {
    const made = await topUp('first', 'wal_first');
    expect(made.status).toBe(201);
    expect(topUpSchema.safeParse(made.body).error).toBeUndefined();
    expect(made.body).toMatchObject({ status: 'succeeded', amount: 2_000, balance: 2_000, wallet_id: 'wal_first' });
    expect(made.body.id).toMatch(/^tu_[0-9a-f]{24}$/);
    expect((await system.get(`/v1/top-ups/${made.body.id}`)).text).toBe(made.text);
    expect((await topUp('second', 'wal_first', { amount: 500 })).body.balance).toBe(2_500);
    await expectBalanceOfEntries('wal_first', 2_500);
  });

  it('whose answers are dropped three times is one charge and one credit, and its webhook adds nothing', async () => {
    await system.faults({ slow_ms: { ms: [1_500, 1_500], calls: ['charges.writes'] } });
    for (let tries = 0; tries < 3; tries += 1) {
      const impatience = new AbortController();
      const gone = expect(topUp('dropped', 'wal_dropped', {}, impatience.signal)).rejects.toThrow();
      await eventually('it is claimed', () => system.row(`select 1 from idempotency_keys where key = 'dropped'`));
      impatience.abort();
      await gone;
    }
    const answer = await eventually('it is answered', async () => {
      const again = await topUp('dropped', 'wal_dropped');
      return again.status === 409 ? null : again;
    });
    expect(answer).toMatchObject({ status: 201, body: { status: 'succeeded', balance: 2_000 } });
    expect(await chargesAtGateway(answer.body.workflow_id)).toHaveLength(1);
    await eventually('the webhook is processed', () =>
      system.row(`select 1 from webhook_events where payment_id = $1 and state = 'processed'`, answer.body.payment_id),
    );
    await expectBalanceOfEntries('wal_dropped', 2_000);
    expect(await system.count(`wallet_entries where wallet_id = 'wal_dropped'`)).toBe(1);
  });

  it('that is charged when the API process dies is answered with the truth, not charged again', async () => {
    await system.faults({ slow_ms: { ms: [2_000, 2_000], calls: ['charges.writes'], next: 1 } });
    const [doomed] = system.servers;
    const body = { ...card, amount: 700 };
    const gone = expect(
      system.post('/v1/wallets/wal_died/top-ups', { key: 'died', body, server: doomed }),
    ).rejects.toThrow();
    await eventually('it is claimed', () => system.row(`select 1 from idempotency_keys where key = 'died'`));
    await doomed?.kill('SIGKILL');
    await gone;
    await doomed?.restart();
    // The lease runs out.
    await system.db.pool.query(`update idempotency_keys set leased_until = now() where key = 'died'`);
    const answer = await system.post('/v1/wallets/wal_died/top-ups', { key: 'died', body });
    expect(answer).toMatchObject({ status: 201, body: { status: 'succeeded', balance: 700 } });
    expect(await chargesAtGateway(answer.body.workflow_id)).toHaveLength(1);
    await expectBalanceOfEntries('wal_died', 700);
  });

  it('that is declined credits nothing', async () => {
    const made = await topUp('poor', 'wal_poor', { payment_method: 'pm_declined' });
    expect(made).toMatchObject({ status: 201, body: { status: 'failed', failure_code: 'card_declined', balance: 0 } });
    await expectBalanceOfEntries('wal_poor', 0);
  });

  it('and twenty more at once add up', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => topUp(`many-${n}`, 'wal_many', { amount: 100 + n })),
    );
    await Promise.all(answers.map(({ body }) => system.shows(`/v1/top-ups/${body.id}`, { status: 'succeeded' })));
    await expectBalanceOfEntries('wal_many', 20 * 100 + 190);
  });

  it('in another currency, or for another customer, is refused', async () => {
    await topUp('mine', 'wal_mine');
    expect(await topUp('mine-2', 'wal_mine', { currency: 'USD' })).toMatchObject({
      ...{ status: 422, body: { code: 'currency_mismatch' } },
    });
    expect(await topUp('mine-2', 'wal_mine', { customer_id: 'cus_2' })).toMatchObject({
      ...{ status: 422, body: { code: 'customer_mismatch' } },
    });
    await expectBalanceOfEntries('wal_mine', 2_000);
  });

  it('that is refunded leaves the wallet again', async () => {
    const made = await topUp('back', 'wal_back');
    const refund = await system.post('/v1/refunds', {
      ...{ key: 'back', body: { source: 'sim', payment_id: made.body.payment_id, amount: 500 } },
    });
    expect(refund).toMatchObject({ status: 201, body: { status: 'succeeded', order_id: null } });
    await expectBalanceOfEntries('wal_back', 1_500);
  });

  it('needs a wallet whose name can be written, and a wallet that nobody filled is not there', async () => {
    expect(await topUp('name', '%20')).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
    expect(await system.get('/v1/wallets/wal_nobody')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });
});
