import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API_SCOPES, rotateApiKey } from '../../src/database/rotate-api-key.ts';
import { ANNOUNCEMENT_TYPES } from '../../src/domain/announcement-types.ts';
import { eventually } from '../support/eventually.ts';
import { isSignedWith, startReceiver, type Receiver } from '../support/receiver.ts';
import { openSystem, paymentEvent, type System } from '../support/system.ts';

let system: System;
const receivers: Receiver[] = [];
beforeAll(async () => {
  system = await openSystem({ servers: 1, config: { outgoing: { allow_networks: ['127.0.0.0/8'] } } });
});
afterAll(async () => {
  await system.close();
  await Promise.all(receivers.map((receiver) => receiver.close()));
});

interface Registered {
  readonly receiver: Receiver;
  readonly id: string;
  readonly secret: string;
  readonly path: string;
}

async function register(eventTypes: readonly string[] = ['order.paid']): Promise<Registered> {
  const receiver = await startReceiver();
  receivers.push(receiver);
  const answer = await system.call('POST', '/v1/endpoints', { body: { url: receiver.url, event_types: eventTypes } });
  expect(answer.status).toBe(201);
  const { id, secret } = answer.body;
  return { receiver, id, secret, path: `/v1/endpoints/${id}` };
}

/** An order that a webhook has paid; the id of its announcement. */
async function pay(name: string, more: Record<string, unknown> = {}): Promise<string> {
  const [orderId, paymentId] = [`ord_${name}`, `pay_${name}`];
  await system.order({ id: orderId, ...more });
  await system.pay(paymentId, orderId);
  await system.deliver(paymentEvent(paymentId, orderId));
  await system.orderIs(orderId, { status: 'paid' });
  const row = await system.row(`select id from outbox where event_type = 'order.paid' and aggregate_id = $1`, orderId);
  return `outbox:${row.id}`;
}

const deliveryOf = async ({ path }: Registered, event: string) =>
  (await system.call('GET', `${path}/deliveries`)).body.data.find((one: any) => one.event_id === event);

const deliveryIs = (endpoint: Registered, event: string, status: string) =>
  eventually(`${event} is ${status} for ${endpoint.id}`, async () => {
    const delivery = await deliveryOf(endpoint, event);
    return delivery?.status === status && delivery;
  });

describe('registering an endpoint', () => {
  it('shows its secret in this answer only', async () => {
    const { id, secret, path } = await register(['refund.failed', 'order.paid', 'order.paid']);
    expect(secret).toMatch(/^whsec_/);
    const shown = await system.call('GET', path);
    expect(shown.body).toMatchObject({ id, event_types: ['order.paid', 'refund.failed'], disabled: false });
    const list = await system.call('GET', '/v1/endpoints');
    for (const answer of [shown, list]) expect(answer.text).not.toContain(secret.slice('whsec_'.length));
  });

  it('refuses event types that do not exist, and lists those that do', async () => {
    const body = { url: 'http://127.0.0.1:1/', event_types: ['order.paid', 'order.payed'] };
    const answer = await system.call('POST', '/v1/endpoints', { body });
    expect(answer.status).toBe(422);
    expect(answer.body.errors).toMatchObject([{ path: 'event_types[1]' }]);
    for (const type of Object.keys(ANNOUNCEMENT_TYPES)) expect(answer.body.errors[0].message).toContain(type);
  });

  it.each([
    ['http://10.0.0.1/', 422, 'address_not_allowed'],
    ['http://169.254.169.254/latest/meta-data/', 422, 'address_not_allowed'],
    ['http://[::1]/', 422, 'address_not_allowed'],
    ['http://user:secret@127.0.0.1/', 422, 'address_not_allowed'],
    ['http://name.invalid/', 422, 'address_not_allowed'],
    ['ftp://127.0.0.1/', 422, 'validation_failed'],
    ['nonsense', 422, 'validation_failed'],
  ])('refuses %s', async (url, status, code) => {
    const answer = await system.call('POST', '/v1/endpoints', { body: { url, event_types: ['*'] } });
    expect(answer).toMatchObject({ status, body: { code } });
    expect(answer.text).not.toContain('secret@');
    const { path } = await register();
    expect(await system.call('PATCH', path, { body: { url } })).toMatchObject({ status, body: { code } });
  });

  it('needs the scope ops:write, for reading too', async () => {
    const apiKey = await rotateApiKey(system.db.url, {
      client: 'reader',
      scopes: API_SCOPES.filter((scope) => scope !== 'ops:write'),
    });
    for (const method of ['GET', 'POST'] as const) {
      expect(
        await system.call(method, '/v1/endpoints', { apiKey, ...(method === 'POST' ? { body: {} } : {}) }),
      ).toMatchObject({ status: 403 });
    }
  });

  it('answers 404 for one that does not exist', async () => {
    for (const [method, path] of [
      ['GET', '/v1/endpoints/ep_none'],
      ['POST', '/v1/endpoints/ep_none/test'],
      ['POST', '/v1/endpoints/ep_none/rotate-secret'],
      ['GET', '/v1/endpoints/ep_none/deliveries'],
      ['POST', '/v1/endpoints/ep_none/deliveries/1/resend'],
      ['POST', '/v1/endpoints/ep_none/deliveries/x/resend'],
    ] as const)
      expect(await system.call(method, path)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await system.call('PATCH', '/v1/endpoints/ep_none', { body: {} })).toMatchObject({ status: 404 });
  });
});

describe('a paid order', () => {
  it('is told to those who subscribe, signed, with amounts as JSON integers and the id in the header', async () => {
    const [paid, all, other] = await Promise.all([register(), register(['*']), register(['payout.paid'])]);
    const event = await pay('told', {
      lines: [
        { id: 'l1', kind: 'booking', amount: 9_000 },
        { id: 'l2', kind: 'product', amount: 1_000, quantity: 2, reference: 'sku-1' },
      ],
    });
    await deliveryIs(paid, event, 'done');
    await deliveryIs(all, event, 'done');
    const [webhook] = paid.receiver.received;
    if (webhook === undefined) throw new Error('Nothing was received.');
    expect(isSignedWith(paid.secret, webhook)).toBe(true);
    expect(isSignedWith(all.secret, webhook)).toBe(false);
    expect(webhook.id).toBe(event);
    expect(webhook.body).toEqual({
      ...{ id: event, type: 'order.paid', timestamp: expect.stringMatching(/^\d{4}-.*Z$/) },
      aggregate_version: expect.any(Number),
      data: { order_id: 'ord_told', source: 'sim', payment_id: 'pay_told', amount: 10_000, currency: 'EUR' },
    });
    expect(webhook.headers['content-type']).toBe('application/json');
    await eventually('the fulfilment is told', async () => all.receiver.taken('fulfilment.requested').length === 1);
    expect(all.receiver.taken('fulfilment.requested')[0]?.body.data).toEqual({
      ...{ order_id: 'ord_told', source: 'sim', payment_id: 'pay_told' },
      ...{ line_id: 'l2', quantity: 2, reference: 'sku-1' },
    });
    expect(all.receiver.taken('order.paid').map(({ id, text }) => [id, text])).toEqual([[event, webhook.text]]);
    expect(other.receiver.received).toEqual([]);
    const timeline = (await system.call('GET', '/v1/payments/sim/pay_told/timeline')).body.data;
    expect(timeline).toContainEqual(
      expect.objectContaining({
        kind: 'delivered_out',
        text: `order.paid told by webhook to endpoint ${paid.id}, done after 1 attempt`,
      }),
    );
    await system.expectCleanAudit();
  });

  it('whose receiver asks for patience is told again when it said, and not before', async () => {
    const endpoint = await register();
    endpoint.receiver.answer(({ id }) =>
      endpoint.receiver.received.some((one) => one.id === id)
        ? { status: 200 }
        : { status: 503, headers: { 'retry-after': '3' } },
    );
    const event = await pay('patient');
    const done = await deliveryIs(endpoint, event, 'done');
    const [first, second, ...more] = endpoint.receiver.received.filter(({ id }) => id === event);
    expect(more).toEqual([]);
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(2_990);
    expect(second?.text).toBe(first?.text);
    expect(Number(second?.headers['webhook-timestamp'])).toBeGreaterThan(Number(first?.headers['webhook-timestamp']));
    expect(done).toMatchObject({ attempts: 2, last_status: 200, last_error: null });
  });
});

describe('a secret that is rotated', () => {
  it('signs beside the new one for a day, and then no more', async () => {
    const endpoint = await register();
    const rotated = await system.call('POST', `${endpoint.path}/rotate-secret`);
    expect(rotated.status).toBe(200);
    const fresh = rotated.body.secret as string;
    expect(fresh).not.toBe(endpoint.secret);
    await deliveryIs(endpoint, await pay('overlap'), 'done');
    const during = endpoint.receiver.received.at(-1);
    if (during === undefined) throw new Error('Nothing was received.');
    expect(during.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);
    expect([isSignedWith(endpoint.secret, during), isSignedWith(fresh, during)]).toEqual([true, true]);

    const left = await system.row(
      'select extract(epoch from expires_at - now())::float8 as seconds from endpoint_secrets where secret = $1',
      endpoint.secret,
    );
    expect(left.seconds).toBeGreaterThan(23.9 * 3_600);
    expect(left.seconds).toBeLessThanOrEqual(24 * 3_600);
    await system.db.pool.query('update endpoint_secrets set expires_at = now() where secret = $1', [endpoint.secret]);
    await deliveryIs(endpoint, await pay('overlap_over'), 'done');
    const after = endpoint.receiver.received.at(-1);
    if (after === undefined) throw new Error('Nothing was received.');
    expect([isSignedWith(endpoint.secret, after), isSignedWith(fresh, after)]).toEqual([false, true]);
  });
});

describe('a disabled endpoint', () => {
  it('loses nothing: what it missed is kept as skipped, and sent when it is asked for', async () => {
    const endpoint = await register();
    expect((await system.call('PATCH', endpoint.path, { body: { disabled: true } })).body.disabled).toBe(true);
    const events = [await pay('missed_1'), await pay('missed_2')];
    for (const event of events) await deliveryIs(endpoint, event, 'skipped');
    expect(endpoint.receiver.received).toEqual([]);
    const skipped = (await system.call('GET', `${endpoint.path}/deliveries?status=skipped`)).body.data;
    expect(skipped.map((one: any) => one.event_id)).toEqual(events.toReversed());

    const resend = (n: number) => system.call('POST', `${endpoint.path}/deliveries/${n}/resend`);
    expect(await resend(skipped[0].n)).toMatchObject({ status: 409, body: { code: 'delivery_not_resendable' } });
    await system.call('PATCH', endpoint.path, { body: { disabled: false } });
    for (const { n } of skipped) expect((await resend(n)).status).toBe(202);
    for (const event of events) await deliveryIs(endpoint, event, 'done');
    expect(endpoint.receiver.received.map(({ id }) => id).sort()).toEqual(events.toSorted());

    // What was delivered can be had once more, under the same id.
    expect((await resend(skipped[0].n)).status).toBe(202);
    await eventually('it comes once more', async () => endpoint.receiver.received.length === 3);
    expect(endpoint.receiver.received[2]?.id).toBe(skipped[0].event_id);
    await deliveryIs(endpoint, skipped[0].event_id, 'done');
    await system.expectCleanAudit();
  });
});

describe('a test of an endpoint', () => {
  it('is sent signed and at once, and tells what the receiver said', async () => {
    const { receiver, secret, path } = await register();
    receiver.answer({ status: 418, body: 'I am a teapot' });
    const told = await system.call('POST', `${path}/test`);
    const [webhook] = receiver.received;
    if (webhook === undefined) throw new Error('Nothing was received.');
    expect(told).toMatchObject({
      status: 200,
      body: { delivered: false, status: 418, body: 'I am a teapot', error: null, webhook_id: webhook.id },
    });
    expect(webhook.body).toMatchObject({ id: webhook.id, type: 'endpoint.test', data: {} });
    expect(isSignedWith(secret, webhook)).toBe(true);
    receiver.answer({ status: 200 });
    expect((await system.call('POST', `${path}/test`)).body.delivered).toBe(true);
    await receiver.close();
    const silent = (await system.call('POST', `${path}/test`)).body;
    expect(silent).toMatchObject({ delivered: false, status: null, error: expect.stringContaining('ECONNREFUSED') });
  });
});

describe('the address of an endpoint', () => {
  it('is looked at again in every try: one that is not allowed any more is not called', async () => {
    const endpoint = await register();
    await system.db.pool.query(`update endpoints set url = 'http://10.1.2.3/' where id = $1`, [endpoint.id]);
    const event = await pay('moved');
    const refused = await eventually('a try was refused', async () => {
      const delivery = await deliveryOf(endpoint, event);
      return delivery?.attempts > 0 && delivery.last_error !== null && delivery;
    });
    expect(refused).toMatchObject({ status: 'in_progress', last_status: null });
    expect(refused.last_error).toContain('10.1.2.3 is not a public address');
    await system.call('PATCH', endpoint.path, { body: { url: endpoint.receiver.url } });
    await deliveryIs(endpoint, event, 'done');
  });
});
