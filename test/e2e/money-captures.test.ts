import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { capture as captureSchema, voided as voidSchema } from '../../src/api/schemas/money.ts';
import { runAudit } from '../../src/database/audit.ts';
import { rotateApiKey } from '../../src/database/rotate-api-key.ts';
import { eventually } from '../support/eventually.ts';
import { type MoneyAnswer, type MoneySystem, openMoneySystem } from '../support/money-system.ts';
import { control } from '../support/simulator.ts';

let system: MoneySystem;
beforeAll(async () => {
  // A gateway that speaks the protocol and nothing beyond it.
  const plain = { name: 'plain', kind: 'standard', mode: 'test', api_base: 'http://127.0.0.1:2', api_key: 'key' };
  const secret = `whsec_${Buffer.from('a secret of twenty-four b').toString('base64')}`;
  system = await openMoneySystem({ sources: [{ ...plain, webhook_secrets: [{ secret }] }] });
});
afterAll(() => system.close());
afterEach(() => system.faults({}));

/** The payment `pay_{name}` of the order `ord_{name}`, authorised at the gateway and known to be. */
async function authorized(name: string, orderId = `ord_${name}`): Promise<string> {
  const paymentId = `pay_${name}`;
  if (orderId === `ord_${name}`) await system.order(orderId);
  const payment = { payment_id: paymentId, order_id: orderId, amount: 10_000, currency: 'EUR', status: 'authorized' };
  await control(system.sim, 'POST', '/payments', payment);
  await eventually(`${paymentId} is known`, async () => (await system.get(pathOf(paymentId))).status === 200);
  await system.shows(pathOf(paymentId), { status: 'authorized' });
  return paymentId;
}

const pathOf = (paymentId: string) => `/v1/payments/sim/${paymentId}`;
const capture = (paymentId: string, key: string, body: object = {}) =>
  system.post(`${pathOf(paymentId)}/capture`, { key, body });
const release = (paymentId: string, key: string) => system.post(`${pathOf(paymentId)}/void`, { key, body: {} });
const orderOf = async (paymentId: string) => (await system.get(`/v1/orders/${paymentId.replace('pay_', 'ord_')}`)).body;

async function atGateway(paymentId: string) {
  return (await system.atGateway()).payments.find((one) => one['payment_id'] === paymentId);
}

/** How often the call was sent. */
async function sends(kind: 'capture' | 'void', paymentId: string): Promise<number> {
  const row = await system.row(`select sends from gateway_calls where reference = $1`, `${kind}:sim:${paymentId}`);
  return row?.sends ?? 0;
}

async function deadLetters(paymentId: string) {
  const { body } = await system.get('/v1/dead-letters?limit=200');
  return body.data.filter((one: { payment_id: string }) => one.payment_id === paymentId);
}

const codes = (answers: readonly MoneyAnswer[]) => answers.map(({ status, body }) => [status, body.code]);

describe('a capture', () => {
  it('pays its order once, though the webhook says it too, and is answered as documented', async () => {
    const paymentId = await authorized('taken');
    expect((await orderOf(paymentId)).status).toBe('payment_pending');
    const made = await capture(paymentId, 'taken');
    expect(made.status).toBe(201);
    expect(captureSchema.safeParse(made.body).error).toBeUndefined();
    expect(made.body).toMatchObject({
      ...{ id: `sim:${paymentId}`, status: 'succeeded', amount: 10_000, currency: 'EUR', order_id: 'ord_taken' },
      ...{ workflow_id: `capture:sim:${paymentId}`, gateway_capture_id: paymentId, failure_code: null },
    });
    expect(made.headers.get('location')).toBe(`${pathOf(paymentId)}/capture`);
    expect((await system.get(`${pathOf(paymentId)}/capture`)).text).toBe(made.text);
    expect(await orderOf(paymentId)).toMatchObject({ status: 'paid', amount_paid: 10_000, paid_payment_id: paymentId });
    await eventually('both webhooks are processed', async () => {
      const processed = `webhook_events where payment_id = $1 and state = 'processed'`;
      return (await system.count(processed, paymentId)) === 2;
    });
    expect(await system.count(`bookings where order_id = 'ord_taken'`)).toBe(1);
    expect(await system.count(`order_payments where payment_id = $1`, paymentId)).toBe(1);
    expect(await sends('capture', paymentId)).toBe(1);
    const again = await capture(paymentId, 'taken');
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([made.text, 'true']);
    const other = await capture(paymentId, 'taken-2');
    expect(other).toMatchObject({ status: 409, body: { code: 'capture_exists' } });
    expect(other.headers.get('location')).toBe(`${pathOf(paymentId)}/capture`);
    expect(codes([await release(paymentId, 'taken')])).toEqual([[409, 'payment_not_voidable']]);
    const { body: timeline } = await system.get(`${pathOf(paymentId)}/timeline`);
    const texts = timeline.data.map(({ text }: { text: string }) => text);
    expect(texts).toEqual(expect.arrayContaining(['capture pending, by requested by shop']));
    expect(texts.filter((text: string) => text.startsWith('capture pending → succeeded'))).toHaveLength(1);
  });

  it('of a part takes that part, releases the rest, and the order counts what was taken', async () => {
    const paymentId = await authorized('part');
    const beyond = await capture(paymentId, 'part', { amount: 10_001 });
    expect(beyond).toMatchObject({ status: 422, body: { code: 'capture_exceeds_authorized' } });
    const made = await capture(paymentId, 'part', { amount: 4_000 });
    expect(made).toMatchObject({ status: 201, body: { status: 'succeeded', amount: 4_000 } });
    expect(await atGateway(paymentId)).toMatchObject({ status: 'captured', amount: 4_000 });
    expect((await system.get(pathOf(paymentId))).body).toMatchObject({ status: 'captured', amount: 4_000 });
    expect(await orderOf(paymentId)).toMatchObject({ status: 'partially_paid', amount_paid: 4_000 });
  });

  it.each(['cut', 'half', 'garble'])('whose answer is lost (%s) is read back, and not sent again', async (how) => {
    const paymentId = await authorized(`lost_${how}`);
    await system.faults({ lose_answer: { calls: ['payments.writes'], next: 1, how }, forget_keys: 1, drop: 1 });
    expect([201, 202]).toContain((await capture(paymentId, `lost-${how}`)).status);
    await system.shows(`${pathOf(paymentId)}/capture`, { status: 'succeeded' });
    expect(await sends('capture', paymentId)).toBe(1);
    expect(await orderOf(paymentId)).toMatchObject({ status: 'paid', amount_paid: 10_000 });
  });

  it('whose work is done only after the first look is one capture', async () => {
    const paymentId = await authorized('late');
    const late = { calls: ['payments.writes'], next: 1, how: 'cut', after_ms: [3_000, 3_000] };
    await system.faults({ late_work: late, forget_keys: 1, drop: 1 });
    const made = await capture(paymentId, 'late');
    expect([201, 202]).toContain(made.status);
    await system.shows(`${pathOf(paymentId)}/capture`, { status: 'succeeded' }, 30_000);
    expect(await sends('capture', paymentId)).toBe(1);
  });

  it('that never arrived is sent again after two looks apart, and an answer is outstanding no more', async () => {
    const paymentId = await authorized('absent');
    await system.faults({ error_before: { calls: ['payments.writes'], next: 1, status: 503 }, drop: 1 });
    const made = await capture(paymentId, 'absent');
    expect(made).toMatchObject({ status: 202, body: { status: 'pending' } });
    await system.shows(`${pathOf(paymentId)}/capture`, { status: 'succeeded' }, 30_000);
    const call = await system.row(
      'select sends, attempt, unanswered_since from gateway_calls where reference = $1',
      `capture:sim:${paymentId}`,
    );
    expect(call).toEqual({ sends: 2, attempt: 1, unanswered_since: null });
  });

  it('of a payment that somebody has captured at the gateway is done without being sent', async () => {
    const paymentId = await authorized('elsewhere');
    await control(system.sim, 'POST', `/payments/${paymentId}/capture`, { deliver: false });
    const made = await capture(paymentId, 'elsewhere');
    expect(made).toMatchObject({ status: 201, body: { status: 'succeeded' } });
    expect(await sends('capture', paymentId)).toBe(0);
    expect(await orderOf(paymentId)).toMatchObject({ status: 'paid', amount_paid: 10_000 });
  });

  it('of a payment that somebody captures between our look and our call is done: the refusal is read back', async () => {
    const paymentId = await authorized('between');
    await system.faults({ slow_ms: { ms: [1_500, 1_500], calls: ['payments.writes'], next: 1 } });
    const making = capture(paymentId, 'between');
    await eventually('it is on its way', async () => (await sends('capture', paymentId)) === 1);
    await control(system.sim, 'POST', `/payments/${paymentId}/capture`, { deliver: false });
    expect(await making).toMatchObject({ status: 201, body: { status: 'succeeded', failure_code: null } });
    expect(await deadLetters(paymentId)).toEqual([]);
    expect(await orderOf(paymentId)).toMatchObject({ status: 'paid', amount_paid: 10_000 });
  });

  it('that the gateway declines is an answer, nobody is asked about it, and a void may follow', async () => {
    const paymentId = await authorized('declined');
    await system.faults({ refuse: { calls: ['payments.writes'], next: 1, status: 402, code: 'card_declined' } });
    const made = await capture(paymentId, 'declined');
    expect(made).toMatchObject({ status: 201, body: { status: 'failed', failure_code: 'card_declined' } });
    expect(await deadLetters(paymentId)).toEqual([]);
    expect(await release(paymentId, 'declined')).toMatchObject({ status: 201, body: { status: 'succeeded' } });
    expect((await orderOf(paymentId)).status).toBe('failed_final');
  });

  it('that the gateway calls done already, and does not show as done, goes before a person', async () => {
    const paymentId = await authorized('contradiction');
    await system.faults({ refuse: { calls: ['payments.writes'], next: 1, status: 409, code: 'already_captured' } });
    const made = await capture(paymentId, 'contradiction');
    expect(made).toMatchObject({ status: 202, body: { status: 'needs_review', failure_code: 'already_captured' } });
    expect(await deadLetters(paymentId)).toMatchObject([{ kind: 'outcome_unknown', status: 'open', amount: 10_000 }]);
    expect(codes([await release(paymentId, 'contradiction')])).toEqual([[409, 'payment_not_voidable']]);
    // It was, and the gateway shows it only later: what is before a person comes right by itself.
    await control(system.sim, 'POST', `/payments/${paymentId}/capture`);
    await system.shows(`${pathOf(paymentId)}/capture`, { status: 'succeeded', failure_code: null });
    expect(await deadLetters(paymentId)).toMatchObject([{ status: 'recovered' }]);
    expect((await orderOf(paymentId)).status).toBe('paid');
  });

  it('that is refused for our own fault waits for a person, who orders it anew under a new key', async () => {
    const paymentId = await authorized('our_fault');
    await system.faults({ refuse: { calls: ['payments.writes'], next: 1, status: 403, code: 'key_lacks_scope' } });
    const made = await capture(paymentId, 'our-fault');
    expect(made).toMatchObject({ status: 202, body: { status: 'needs_review', failure_code: 'key_lacks_scope' } });
    const [letter] = await deadLetters(paymentId);
    expect(letter.choices).toEqual(['retry', 'resolve', 'give_up']);
    const decision = { action: 'retry', note: 'the key has the scope now' };
    const decided = await system.post(`/v1/dead-letters/${encodeURIComponent(letter.id)}/decide`, { body: decision });
    expect(decided.status).toBe(200);
    await system.shows(`${pathOf(paymentId)}/capture`, { status: 'succeeded' });
    const call = await system.row('select attempt from gateway_calls where reference = $1', `capture:sim:${paymentId}`);
    expect(call).toEqual({ attempt: 2 });
  });

  it('that nobody can tell the outcome of is unknown, and a person who saw it at the gateway says so', async () => {
    const paymentId = await authorized('unknown');
    // Each of the ten attempts is told to come back in a second, so that the policy is used up soon.
    await system.faults({ rate_limit: { calls: ['payments.writes'], retry_after: 1 } });
    const made = await capture(paymentId, 'unknown');
    expect(made).toMatchObject({ status: 202, body: { status: 'pending' } });
    await system.shows(`${pathOf(paymentId)}/capture`, { status: 'unknown' }, 60_000);
    const [letter] = await deadLetters(paymentId);
    expect(letter).toMatchObject({ kind: 'outcome_unknown', status: 'open', workflow_id: `capture:sim:${paymentId}` });
    await control(system.sim, 'POST', `/payments/${paymentId}/capture`, { deliver: false });
    const decision = { action: 'resolve', outcome: 'succeeded', note: 'seen in the dashboard' };
    const decided = await system.post(`/v1/dead-letters/${encodeURIComponent(letter.id)}/decide`, { body: decision });
    expect(decided.status).toBe(200);
    await system.shows(`${pathOf(paymentId)}/capture`, { status: 'succeeded' });
    await eventually('its payment is looked at, too', async () => (await orderOf(paymentId)).status === 'paid');
  }, 90_000);
});

describe('a void', () => {
  it('lets the payment go: its order has no payment any more, and is answered as documented', async () => {
    const paymentId = await authorized('gone');
    const made = await release(paymentId, 'gone');
    expect(made.status).toBe(201);
    expect(voidSchema.safeParse(made.body).error).toBeUndefined();
    expect(made.body).toMatchObject({
      ...{ id: `sim:${paymentId}`, status: 'succeeded', amount: 10_000, workflow_id: `void:sim:${paymentId}` },
      ...{ gateway_void_id: paymentId, failure_code: null },
    });
    expect((await system.get(`${pathOf(paymentId)}/void`)).text).toBe(made.text);
    expect((await system.get(pathOf(paymentId))).body).toMatchObject({ status: 'expired', outcome: 'failed' });
    expect(await orderOf(paymentId)).toMatchObject({ status: 'failed_final', amount_paid: 0 });
    const again = await release(paymentId, 'gone-2');
    expect([again.status, again.body.code, again.headers.get('location')]).toEqual([
      ...[409, 'void_exists', `${pathOf(paymentId)}/void`],
    ]);
    expect(codes([await capture(paymentId, 'gone')])).toEqual([[409, 'payment_not_capturable']]);
  });

  it('whose answer is lost is read back, and not sent again', async () => {
    const paymentId = await authorized('void_lost');
    await system.faults({ lose_answer: { calls: ['payments.writes'], next: 1 }, forget_keys: 1, drop: 1 });
    expect([201, 202]).toContain((await release(paymentId, 'void-lost')).status);
    await system.shows(`${pathOf(paymentId)}/void`, { status: 'succeeded' });
    expect(await sends('void', paymentId)).toBe(1);
  });

  it('of a payment that was captured meanwhile fails, and the money counts', async () => {
    const paymentId = await authorized('too_late');
    await control(system.sim, 'POST', `/payments/${paymentId}/capture`, { deliver: false });
    const made = await release(paymentId, 'too-late');
    expect(made).toMatchObject({ status: 201, body: { status: 'failed', failure_code: 'already_captured' } });
    expect(made.body.gateway_void_id).toBeNull();
    expect(await deadLetters(paymentId)).toEqual([]);
    expect(await orderOf(paymentId)).toMatchObject({ status: 'paid', amount_paid: 10_000 });
  });
});

describe('of several who ask at once', () => {
  it('for a capture under keys of their own, one is taken and the others hear of it', async () => {
    const paymentId = await authorized('crowd');
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => capture(paymentId, `crowd-${n}`)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.code === 'capture_exists')).toHaveLength(9);
    expect(await sends('capture', paymentId)).toBe(1);
    expect(await orderOf(paymentId)).toMatchObject({ status: 'paid', amount_paid: 10_000 });
  });

  it('for a capture and for a void, one is done and the other one refused', async () => {
    for (const n of [1, 2, 3, 4]) {
      const paymentId = await authorized(`torn_${n}`);
      const answers = await Promise.all([capture(paymentId, `torn-${n}`), release(paymentId, `torn-${n}`)]);
      expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 409]);
      const taken = answers[0].status === 201;
      expect((await atGateway(paymentId))?.['status']).toBe(taken ? 'captured' : 'expired');
      expect((await orderOf(paymentId)).status).toBe(taken ? 'paid' : 'failed_final');
    }
  });
});

describe('a capture or a void is refused, and nothing is kept,', () => {
  it('where there is nothing to end', async () => {
    const { paymentId } = await system.paid('ended');
    const answers = [
      await capture('pay_nobody', 'refused'),
      await system.post('/v1/payments/nobody/pay_nobody/capture', { key: 'refused', body: {} }),
      await system.post('/v1/payments/sim/%20/void', { key: 'refused', body: {} }),
      await capture(paymentId, 'refused'),
      await release(paymentId, 'refused'),
      await capture(paymentId, 'refused', { amount: 0 }),
    ];
    expect(codes(answers)).toEqual([
      ...[404, 404, 404].map((status) => [status, 'payment_not_found']),
      ...[409, 409].map((status, n) => [status, n === 0 ? 'payment_not_capturable' : 'payment_not_voidable']),
      [422, 'validation_failed'],
    ]);
    expect(await system.count(`idempotency_keys where key = 'refused'`)).toBe(0);
    expect(codes([await system.get(`${pathOf(paymentId)}/capture`)])).toEqual([[404, 'not_found']]);
  });

  it('without a key, or without the scope', async () => {
    const paymentId = await authorized('barred');
    const apiKey = await rotateApiKey(system.db.url, { client: 'clerk', scopes: ['orders'] });
    const answers = [
      await system.post(`${pathOf(paymentId)}/capture`, { body: {} }),
      await system.post(`${pathOf(paymentId)}/void`, { body: {} }),
      await system.post(`${pathOf(paymentId)}/capture`, { key: 'barred', body: {}, apiKey }),
    ];
    expect(codes(answers)).toEqual([
      ...[
        [400, 'idempotency_key_required'],
        [400, 'idempotency_key_required'],
        [403, 'insufficient_scope'],
      ],
    ]);
  });

  it('where the order takes no money any more: the payment can only be voided', async () => {
    const { orderId } = await system.paid('full');
    const late = await authorized('full_late', orderId);
    const cancelled = await authorized('cancelled');
    await system.post('/v1/orders/ord_cancelled/cancel');
    for (const paymentId of [late, cancelled]) {
      expect(codes([await capture(paymentId, `over-${paymentId}`)])).toEqual([[409, 'order_not_payable']]);
      expect(await release(paymentId, `over-${paymentId}`)).toMatchObject({
        status: 201,
        body: { status: 'succeeded' },
      });
    }
    expect((await system.get(`/v1/orders/${orderId}`)).body).toMatchObject({ status: 'paid', amount_paid: 10_000 });
  });

  it('where the order is in another currency: captured, the money would only wait for a person', async () => {
    await system.order('ord_dollars');
    const payment = { payment_id: 'pay_dollars', order_id: 'ord_dollars', amount: 10_000, currency: 'USD' };
    await control(system.sim, 'POST', '/payments', { ...payment, status: 'authorized' });
    await system.shows(pathOf('pay_dollars'), { status: 'authorized' });
    expect(codes([await capture('pay_dollars', 'dollars')])).toEqual([[422, 'currency_mismatch']]);
    expect(await atGateway('pay_dollars')).toMatchObject({ status: 'authorized' });
    expect(await release('pay_dollars', 'dollars')).toMatchObject({ status: 201, body: { status: 'succeeded' } });
  });

  it('where the gateway has no such call', async () => {
    await system.db.pool.query(
      `insert into payments (source, payment_id, status, amount, currency) values ('plain', 'pay_plain', 'authorized', 100, 'EUR')`,
    );
    for (const end of ['capture', 'void']) {
      const answer = await system.post(`/v1/payments/plain/pay_plain/${end}`, { key: `plain-${end}`, body: {} });
      expect(codes([answer])).toEqual([[422, 'not_supported']]);
    }
    await system.db.pool.query(`delete from payments where source = 'plain'`);
  });
});

it('all of it leaves nothing for the audit to find', async () => {
  const report = await runAudit(system.db.pool);
  expect(report.violations).toEqual([]);
});
