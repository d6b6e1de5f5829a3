import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { rotateApiKey } from '../../src/database/rotate-api-key.ts';
import { eventually } from '../support/eventually.ts';
import { openSystem, paymentEvent, type Answer, type System } from '../support/system.ts';

/** So short that a test sees it end, so long that a request that is still running keeps it. */
const LEASE_SECONDS = 6;

let system: System;
beforeAll(async () => {
  system = await openSystem({ temporalProxy: true, policies: { idempotency_lease: `${LEASE_SECONDS}s` } });
});
afterAll(() => system.close());
afterEach(async () => {
  system.temporalProxy.restore();
  await system.control('PUT', '/faults', {});
});

const bodyOf = (id: string, amount = 10_000) => ({
  ...{ id, currency: 'EUR', amount, customer: { id: 'cus_1' } },
  lines: [{ id: 'l1', kind: 'booking', amount }],
});

async function workflowExists(workflowId: string): Promise<boolean> {
  return system.temporal.client.workflow
    .getHandle(workflowId)
    .describe()
    .then(
      () => true,
      () => false,
    );
}

describe('what was reserved by a process that died before it could start anything', () => {
  it('the refund of an extra capture: the relay starts it, and it is one refund', async () => {
    await system.order({ id: 'ord_died' });
    for (const which of ['kept', 'extra']) await system.pay(`pay_died_${which}`, 'ord_died');
    await system.deliver(paymentEvent('pay_died_kept', 'ord_died'));
    await system.orderIs('ord_died', { status: 'paid' });
    // While the gateway takes its time to answer, the way to Temporal breaks: the transaction commits, and nothing follows.
    await system.control('PUT', '/faults', { slow_ms: { ms: [1_000, 1_000], calls: ['payments.reads'] } });
    const asked = async () => (await system.control('GET', '/state')).calls['GET /payments/:id'] as number;
    const before = await asked();
    await system.deliver(paymentEvent('pay_died_extra', 'ord_died'), { id: 'evt_died' });
    await eventually('the gateway is being asked', async () => (await asked()) > before);
    system.temporalProxy.cut();
    const id = 'extra_capture:sim:pay_died_extra';
    await eventually('the refund is reserved', () => system.row('select 1 as yes from refunds where id = $1', id));
    await system.worker.kill('SIGKILL');
    expect(await workflowExists(`refund:${id}`)).toBe(false);
    expect(await system.row(`select published_at from outbox where aggregate_id = $1`, id)).toEqual({
      published_at: null,
    });
    await system.orderIs('ord_died', { status: 'paid', amount_paid: 10_000 });
    expect((await system.call('GET', '/v1/payments/sim/pay_died_extra')).body).toMatchObject({
      ...{ outcome: 'extra_payment', refunds: [{ id, status: 'pending', gateway_refund_id: null }] },
    });
    system.temporalProxy.restore();
    await system.worker.restart();
    await system.settled();
    expect(await system.refundsAtGateway('pay_died_extra')).toMatchObject([{ amount: 10_000, status: 'succeeded' }]);
    expect(await system.refundsAtGateway('pay_died_kept')).toEqual([]);
    await system.eventIs('evt_died', 'processed');
  });

  it('a refund, a checkout and an expiry that the API promised: all are carried out, and nobody has to come back', async () => {
    await system.order({ id: 'ord_part' });
    await system.pay('pay_part', 'ord_part', { amount: 4_000 });
    await system.deliver(paymentEvent('pay_part', 'ord_part', { amount: 4_000 }));
    await system.orderIs('ord_part', { status: 'partially_paid' });
    await system.order({ id: 'ord_page' });
    await system.worker.kill('SIGKILL');
    system.temporalProxy.cut();
    const page = { key: 'page', body: { source: 'sim' } };
    const [cancelled, checkout] = await Promise.all([
      system.call('POST', '/v1/orders/ord_part/cancel'),
      system.call('POST', '/v1/orders/ord_page/checkout', page),
      system.order({ id: 'ord_brief', expires_at: new Date(Date.now() + 1_000).toISOString() }),
    ]);
    expect(cancelled).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    expect(checkout).toMatchObject({ status: 202, body: { status: 'pending' } });
    await Promise.all(system.servers.map((server) => server.kill('SIGKILL')));
    for (const id of ['refund:late_capture:sim:pay_part', 'checkout:ord_page:1', 'order:ord_brief']) {
      expect(await workflowExists(id)).toBe(false);
    }
    system.temporalProxy.restore();
    await Promise.all([...system.servers, system.worker].map((one) => one.restart()));
    await system.orderIs('ord_brief', { status: 'expired' });
    await system.settled();
    expect(await system.refundsAtGateway('pay_part')).toMatchObject([{ amount: 4_000, status: 'succeeded' }]);
    await system.orderIs('ord_part', { status: 'cancelled', amount_paid: 4_000, amount_refunded: 4_000 });
    const made = await eventually('the page is there', async () => {
      const { body } = await system.call('GET', '/v1/orders/ord_page/checkouts/1');
      return body.status === 'succeeded' && body;
    });
    const { payments } = await system.control('GET', '/state');
    expect(payments.filter(({ order_id }: any) => order_id === 'ord_page')).toMatchObject([
      { payment_id: made.payment_id },
    ]);
    // A client that does come back hears what it was told before.
    const again = await system.call('POST', '/v1/orders/ord_page/checkout', page);
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([202, checkout.text, 'true']);
  });

  it('a checkout whose API process was killed before it had answered: the retry hears the truth, of one payment', async () => {
    await system.order({ id: 'ord_killed' });
    await system.control('PUT', '/faults', { slow_ms: { ms: [1_500, 1_500], calls: ['payments.writes'] } });
    const ask = (server: number): Promise<Answer> =>
      system.call('POST', '/v1/orders/ord_killed/checkout', { key: 'killed', body: { source: 'sim' }, server });
    const lost = ask(0).then(
      () => 'answered',
      () => 'lost',
    );
    await eventually('it is reserved', () =>
      system.row(`select 1 as yes from checkouts where order_id = 'ord_killed'`),
    );
    await system.servers[0]?.kill('SIGKILL');
    expect(await lost).toBe('lost');
    // Nobody can tell a process that was killed from one that is still at it, until its lease is over.
    expect(await ask(1)).toMatchObject({ status: 409, body: { code: 'request_in_progress' } });
    const answer = await eventually('its lease is over', async () => {
      const now = await ask(1);
      return now.status !== 409 && now;
    });
    expect(answer).toMatchObject({ status: 201, body: { n: 1, status: 'succeeded' } });
    expect((await ask(1)).headers.get('idempotent-replayed')).toBe('true');
    const { payments } = await system.control('GET', '/state');
    expect(payments.filter(({ order_id }: any) => order_id === 'ord_killed')).toHaveLength(1);
    await system.servers[0]?.restart();
  });
});

describe('a retry under the same Idempotency-Key, after the API key was rotated', () => {
  const rotate = (client = 'client-of-rotation', overlapSeconds = 0) =>
    rotateApiKey(system.db.url, { client, scopes: ['orders'], overlapSeconds });

  it('gets the stored answer, byte for byte, and does nothing', async () => {
    const first = await rotate();
    const key = 'make-1';
    const made = await system.call('POST', '/v1/orders', { key, apiKey: first, body: bodyOf('ord_rotated') });
    expect(made.status).toBe(201);
    const second = await rotate();
    expect(await system.call('POST', '/v1/orders', { key, apiKey: first, body: bodyOf('ord_rotated') })).toMatchObject({
      ...{ status: 401, body: { code: 'unauthenticated' } },
    });
    const { id, ...rest } = bodyOf('ord_rotated');
    const texts = [JSON.stringify(bodyOf('ord_rotated')), JSON.stringify({ ...rest, id }, null, 3)];
    for (const [n, text] of texts.entries()) {
      const again = await system.call('POST', '/v1/orders', { key, apiKey: second, text, server: n });
      expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([201, made.text, 'true']);
    }
    expect(await system.count(`orders where id = 'ord_rotated'`)).toBe(1);
  });

  it('of an order whose id we chose: the same one, not another', async () => {
    const { id: _id, ...body } = bodyOf('');
    const made = await system.call('POST', '/v1/orders', { key: 'make-2', apiKey: await rotate(), body });
    const again = await system.call('POST', '/v1/orders', { key: 'make-2', apiKey: await rotate(), body });
    expect([made.status, again.status, again.text]).toEqual([201, 201, made.text]);
  });

  it('of a checkout: the same page, and one payment at the gateway', async () => {
    await system.order({ id: 'ord_rotated_page' });
    const ask = async () =>
      system.call('POST', '/v1/orders/ord_rotated_page/checkout', {
        ...{ key: 'page-1', apiKey: await rotate(), body: { source: 'sim' } },
      });
    const [made, again] = [await ask(), await ask()];
    expect([again.status, again.text]).toEqual([made.status, made.text]);
    const { payments } = await system.control('GET', '/state');
    expect(payments.filter(({ order_id }: any) => order_id === 'ord_rotated_page')).toHaveLength(1);
  });

  it('while the first one is still running: in progress, and then its answer', async () => {
    await system.order({ id: 'ord_running' });
    await system.control('PUT', '/faults', { slow_ms: { ms: [1_500, 1_500], calls: ['payments.writes'] } });
    const ask = (apiKey: string, server: number) =>
      system.call('POST', '/v1/orders/ord_running/checkout', {
        key: 'page-2',
        apiKey,
        body: { source: 'sim' },
        server,
      });
    const first = ask(await rotate('client-of-rotation', 60), 0);
    await eventually('it is reserved', () =>
      system.row(`select 1 as yes from checkouts where order_id = 'ord_running'`),
    );
    const second = await rotate('client-of-rotation', 60);
    const running = await ask(second, 1);
    expect(running).toMatchObject({ status: 409, body: { code: 'request_in_progress' } });
    expect(Number(running.headers.get('retry-after'))).toBeGreaterThan(0);
    const made = await first;
    const again = await ask(second, 1);
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([
      made.status,
      made.text,
      'true',
    ]);
  });

  it('with another request: refused; and from another client: its own affair', async () => {
    const [mine, theirs] = [await rotate(), await rotate('another-client')];
    await system.call('POST', '/v1/orders', { key: 'make-3', apiKey: mine, body: bodyOf('ord_mine') });
    const other = await system.call('POST', '/v1/orders', {
      key: 'make-3',
      apiKey: await rotate(),
      body: bodyOf('ord_mine', 1),
    });
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
    const foreign = await system.call('POST', '/v1/orders', {
      key: 'make-3',
      apiKey: theirs,
      body: bodyOf('ord_mine'),
    });
    expect(foreign).toMatchObject({ status: 409, body: { code: 'order_exists' } });
    expect(foreign.headers.get('idempotent-replayed')).toBeNull();
    // A refusal is not stored: under the same key the same client may ask for something that can be.
    const own = await system.call('POST', '/v1/orders', { key: 'make-3', apiKey: theirs, body: bodyOf('ord_theirs') });
    expect(own).toMatchObject({ status: 201, body: { id: 'ord_theirs' } });
  });
});

it('leaves books in which every promise holds', async () => {
  await system.settled();
  await system.expectCleanAudit();
});
