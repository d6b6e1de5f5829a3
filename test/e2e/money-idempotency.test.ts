import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { rotateApiKey } from '../../src/database/rotate-api-key.ts';
import { freePorts } from '../../src/stack/ports.ts';
import { eventually } from '../support/eventually.ts';
import { type MoneyAnswer, type MoneySystem, openMoneySystem, startSilence } from '../support/money-system.ts';

/** Longer than the 5 s that a request may wait, as configuration asks. */
const LEASE_MS = 7_000;

let system: MoneySystem;
beforeAll(async () => {
  system = await openMoneySystem({ policies: { idempotency_lease: `${LEASE_MS}ms` } });
});
afterAll(() => system.close());
afterEach(() => system.faults({}));

const refund = (key: string, body: object, options: Parameters<MoneySystem['post']>[1] = {}) =>
  system.post('/v1/refunds', { key, body: { source: 'sim', ...body }, ...options });

async function refundsAtGateway(paymentId: string) {
  return (await system.atGateway()).refunds.filter((one) => one['payment_id'] === paymentId);
}

const claimed = (key: string) =>
  eventually(`${key} is claimed`, () => system.row('select * from idempotency_keys where key = $1', key));

async function reap(): Promise<void> {
  await system.temporal.client.schedule.getHandle('reap-idempotency-keys').trigger();
}

function expectReplay(answer: MoneyAnswer, first: { status: number; text: string }): void {
  expect(answer.status).toBe(first.status);
  expect(answer.text).toBe(first.text);
  expect(answer.headers.get('idempotent-replayed')).toBe('true');
}

describe('the same key again', () => {
  it('answers byte for byte what was answered, also to other spaces and another order of members', async () => {
    const { paymentId } = await system.paid('again');
    const first = await refund('again', { payment_id: paymentId, amount: 100 });
    expect(first.status).toBe(201);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    for (const body of [
      { source: 'sim', payment_id: paymentId, amount: 100 },
      `{ "amount" : 100,\n "payment_id": "${paymentId}", "source": "sim" }`,
    ]) {
      const again = await system.post('/v1/refunds', { key: 'again', body });
      expectReplay(again, first);
      expect(again.headers.get('location')).toBe(first.headers.get('location'));
    }
    expect(await refundsAtGateway(paymentId)).toHaveLength(1);
  });

  it('with another request is refused with a code of its own, and moves nothing', async () => {
    const { paymentId } = await system.paid('other');
    const first = await refund('other', { payment_id: paymentId, amount: 100 });
    const other = await refund('other', { payment_id: paymentId, amount: 200 });
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
    // Whatever else is wrong with it, this is what its sender has to know first.
    for (const wrong of [{ amount: 0 }, { amount: null }, { amount: 100, payment: 'pay' }, { payment_id: 'nobody' }]) {
      expect(await refund('other', { payment_id: paymentId, ...wrong })).toMatchObject({
        status: 422,
        body: { code: 'idempotency_key_reused' },
      });
    }
    expect(await refund('other-2', { payment_id: paymentId, amount: null })).toMatchObject({
      body: { code: 'validation_failed' },
    });
    expectReplay(await refund('other', { payment_id: paymentId, amount: 100 }), first);
    expect(await refundsAtGateway(paymentId)).toHaveLength(1);
  });

  it('and the API key rotated in between still answers the same', async () => {
    const { paymentId } = await system.paid('rotated');
    const first = await refund('rotated', { payment_id: paymentId, amount: 100 });
    const apiKey = await rotateApiKey(system.db.url, { client: 'shop', scopes: null, overlapSeconds: 3_600 });
    expectReplay(await refund('rotated', { payment_id: paymentId, amount: 100 }, { apiKey }), first);
    expect(await refundsAtGateway(paymentId)).toHaveLength(1);
  });

  it('differs by its case, by the client, and by the path', async () => {
    const [one, two] = [await system.paid('scope1'), await system.paid('scope2')];
    const first = await refund('Scope', { payment_id: one.paymentId, amount: 100 });
    const lower = await refund('scope', { payment_id: one.paymentId, amount: 100 });
    const another = await refund('Scope-2', { payment_id: two.paymentId, amount: 100 });
    const apiKey = await rotateApiKey(system.db.url, { client: 'other-shop', scopes: ['money'] });
    const otherClient = await refund('Scope', { payment_id: one.paymentId, amount: 300 }, { apiKey });
    expect([first, lower, another, otherClient].map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(new Set([first, lower, another, otherClient].map(({ body }) => body.id)).size).toBe(4);
    const card = { source: 'sim', customer_id: 'cus_1', payment_method: 'pm_1', amount: 500, currency: 'EUR' };
    const topUps = [
      await system.post('/v1/wallets/wal_a/top-ups', { key: 'Scope', body: card }),
      await system.post('/v1/wallets/wal_b/top-ups', { key: 'Scope', body: card }),
    ];
    expect(topUps.map(({ status, headers }) => [status, headers.get('idempotent-replayed')])).toEqual([
      ...[
        [201, null],
        [201, null],
      ],
    ]);
    expect((await refundsAtGateway(one.paymentId)).map((it) => Number(it['amount'])).toSorted((a, b) => a - b)).toEqual(
      [100, 100, 300],
    );
  });

  it('is one effect when twenty ask at once over two API processes', async () => {
    const { paymentId } = await system.paid('twenty');
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => refund('twenty', { payment_id: paymentId, amount: 100 })),
    );
    for (const { status, body } of answers) {
      if (status !== 201) expect([status, body.code]).toEqual([409, 'request_in_progress']);
    }
    expect(answers.filter(({ status, headers }) => status === 201 && !headers.has('idempotent-replayed'))).toHaveLength(
      1,
    );
    expect(await refundsAtGateway(paymentId)).toHaveLength(1);
  });

  it('when it is long forgotten still moves nothing again, and another request is refused', async () => {
    const { paymentId } = await system.paid('forgotten');
    const first = await refund('forgotten', { payment_id: paymentId, amount: 100 });
    await system.db.pool.query(
      `update idempotency_keys set completed_at = now() - interval '73 hours' where key = 'forgotten'`,
    );
    await reap();
    await eventually(
      'the answer is forgotten',
      async () => (await system.count(`idempotency_keys where key = 'forgotten'`)) === 0,
    );
    expect(await system.count(`idempotency_keys where key = 'again'`)).toBe(1);
    expect(await refund('forgotten', { payment_id: paymentId, amount: 200 })).toMatchObject({
      ...{ status: 422, body: { code: 'idempotency_key_reused' } },
    });
    const again = await refund('forgotten', { payment_id: paymentId, amount: 100 });
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(await refundsAtGateway(paymentId)).toHaveLength(1);
  });
});

describe('while the gateway takes 8 s', () => {
  it('a request is answered 202 in time, a second one 409, and its Location shows the truth', async () => {
    const { paymentId } = await system.paid('slow');
    await system.faults({ slow_ms: { ms: [8_000, 8_000], calls: ['refunds.writes'], next: 1 } });
    const began = performance.now();
    const asked = refund('slow', { payment_id: paymentId });
    await claimed('slow');
    const meanwhile = await refund('slow', { payment_id: paymentId });
    expect(meanwhile).toMatchObject({ status: 409, body: { code: 'request_in_progress' } });
    expect(Number(meanwhile.headers.get('retry-after'))).toBeGreaterThan(0);
    const first = await asked;
    expect(performance.now() - began).toBeLessThan(6_500);
    expect(first).toMatchObject({ status: 202, body: { status: 'pending', gateway_refund_id: null } });
    expect(Number(first.headers.get('retry-after'))).toBeGreaterThan(0);
    expectReplay(await refund('slow', { payment_id: paymentId }), first);
    const location = first.headers.get('location') ?? '';
    await system.shows(location, { status: 'succeeded' });
    // What was answered stays answered; the truth is at its Location.
    expectReplay(await refund('slow', { payment_id: paymentId }), first);
    expect(await refundsAtGateway(paymentId)).toHaveLength(1);
  });

  it('a client that gives up changes nothing: the answer is there for its next try', async () => {
    const { paymentId } = await system.paid('aborted');
    await system.faults({ slow_ms: { ms: [3_000, 3_000], calls: ['refunds.writes'], next: 1 } });
    const impatience = new AbortController();
    const asked = refund('aborted', { payment_id: paymentId }, { signal: impatience.signal });
    const gone = expect(asked).rejects.toThrow();
    await claimed('aborted');
    impatience.abort();
    await gone;
    const answer = await eventually('the answer is stored', async () => {
      const again = await refund('aborted', { payment_id: paymentId });
      return again.status === 409 ? null : again;
    });
    expect(answer).toMatchObject({ status: 201, body: { status: 'succeeded' } });
    expect(answer.headers.get('idempotent-replayed')).toBe('true');
    expect(await refundsAtGateway(paymentId)).toHaveLength(1);
  });
});

describe('an API process that is killed inside a request', () => {
  async function killInside(name: string): Promise<{ paymentId: string }> {
    const { paymentId } = await system.paid(name);
    await system.faults({ slow_ms: { ms: [4_000, 4_000], calls: ['refunds.writes'], next: 1 } });
    const [doomed] = system.servers;
    const gone = expect(refund(name, { payment_id: paymentId }, { server: doomed })).rejects.toThrow();
    await claimed(name);
    await doomed?.kill('SIGKILL');
    await gone;
    await doomed?.restart();
    return { paymentId };
  }

  it('is answered by the retry that finds it past its lease, from its reservation', async () => {
    const { paymentId } = await killInside('killed');
    expect(await refund('killed', { payment_id: paymentId })).toMatchObject({
      ...{ status: 409, body: { code: 'request_in_progress' } },
    });
    const answer = await eventually('the lease is over', async () => {
      const again = await refund('killed', { payment_id: paymentId });
      return again.status === 409 ? null : again;
    });
    expect(answer).toMatchObject({ status: 201, body: { status: 'succeeded', amount: 10_000 } });
    expectReplay(await refund('killed', { payment_id: paymentId }), answer);
    expect(await refundsAtGateway(paymentId)).toHaveLength(1);
  });

  it('is completed by the scheduled job, with the body that the API would have sent', async () => {
    const { paymentId } = await killInside('reaped');
    const { id } = (await system.row<{ id: string }>('select id from refunds where payment_id = $1', paymentId)) ?? {};
    await system.shows(`/v1/refunds/${id}`, { status: 'succeeded' });
    const key = await eventually('its lease is over', () =>
      system.row(`select * from idempotency_keys where key = 'reaped' and leased_until < now()`),
    );
    expect(key).toMatchObject({ status: 'in_progress', reservation: `refund:${id}` });
    await reap();
    await eventually('it is completed', () =>
      system.row(`select 1 from idempotency_keys where key = 'reaped' and status = 'completed'`),
    );
    const shown = await system.get(`/v1/refunds/${id}`);
    expectReplay(await refund('reaped', { payment_id: paymentId }), { status: 201, text: shown.text });
    expect(await refundsAtGateway(paymentId)).toHaveLength(1);
  });

  it('before it could start the workflow leaves it to the relay: one refund', async () => {
    const { paymentId } = await system.paid('unstarted');
    const silence = await startSilence();
    const [port = 0] = await freePorts(1);
    const doomed = await system.startServer({
      port,
      temporal: { address: silence.address, namespace: system.temporal.namespace },
    });
    const gone = expect(refund('unstarted', { payment_id: paymentId }, { server: doomed })).rejects.toThrow();
    await claimed('unstarted');
    await doomed.kill('SIGKILL');
    await gone;
    await silence.close();
    const { id } = (await system.row<{ id: string }>('select id from refunds where payment_id = $1', paymentId)) ?? {};
    await system.shows(`/v1/refunds/${id}`, { status: 'succeeded' });
    expect(await refundsAtGateway(paymentId)).toHaveLength(1);
  });
});

describe('while the API cannot reach Temporal', () => {
  it('a request is answered 202 without a long wait, and carried out', async () => {
    const { paymentId } = await system.paid('away');
    const [port = 0, dead = 0] = await freePorts(2);
    const cutOff = await system.startServer({
      port,
      temporal: { address: `127.0.0.1:${dead}`, namespace: system.temporal.namespace },
    });
    const began = performance.now();
    const answer = await refund('away', { payment_id: paymentId }, { server: cutOff });
    expect(performance.now() - began).toBeLessThan(3_500);
    expect(answer.status).toBe(202);
    expect(answer.headers.get('location')).toBe(`/v1/refunds/${answer.body.id}`);
    await system.shows(`/v1/refunds/${answer.body.id}`, { status: 'succeeded' });
    expect(await refundsAtGateway(paymentId)).toHaveLength(1);
  });
});

describe('a refund whose answer never comes', () => {
  it('is one refund, although the worker is killed between the tries', async () => {
    const { paymentId } = await system.paid('lost');
    await system.faults({ lose_answer: { chance: 1, calls: ['refunds.writes'] }, forget_keys: 1 });
    const asked = refund('lost', { payment_id: paymentId });
    await eventually('the gateway has it', async () => (await refundsAtGateway(paymentId)).length > 0);
    await system.worker.kill('SIGKILL');
    const first = await asked;
    expect(first.status).toBe(202);
    await system.worker.restart();
    await system.shows(`/v1/refunds/${first.body.id}`, { status: 'succeeded' }, 60_000);
    expect(await refundsAtGateway(paymentId)).toHaveLength(1);
  }, 90_000);

  it('and which is done only after the first look-up found nothing is one refund', async () => {
    const { paymentId } = await system.paid('later');
    await system.faults({
      late_work: { chance: 1, calls: ['refunds.writes'], next: 1, how: 'cut', after_ms: [3_000, 3_000] },
      forget_keys: 1,
    });
    const first = await refund('later', { payment_id: paymentId });
    await system.shows(`/v1/refunds/${first.body.id}`, { status: 'succeeded' }, 30_000);
    const [one, ...more] = await refundsAtGateway(paymentId);
    expect(more).toEqual([]);
    expect(one?.['refund_id']).toBe((await system.get(`/v1/refunds/${first.body.id}`)).body.gateway_refund_id);
  }, 60_000);
});
