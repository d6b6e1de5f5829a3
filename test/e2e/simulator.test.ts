import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSimulator, type Simulator } from '../../src/gateways/simulator/start-simulator.ts';
import { eventually } from '../support/eventually.ts';
import { simSettings, type SimSettings } from '../support/processes.ts';
import { adapterOf, control, startReceiver, startSimulatorProcess, type Received } from '../support/simulator.ts';

interface SimState {
  readonly payments: { payment_id: string; order_id: string; status: string }[];
  readonly refunds: { amount: number; status: string }[];
  readonly deliveries: Record<'attempts' | 'pending' | 'acknowledged' | 'given_up' | 'dropped', number>;
  readonly faults_met: Record<string, number>;
}

const folder = mkdtempSync(join(tmpdir(), 'paidonce-simulator-'));
const endings: (() => Promise<void>)[] = [];
let sim: SimSettings;

beforeEach(async () => {
  sim = await simSettings();
});

afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A simulator within this process, and a receiver of its webhooks. */
async function start(answer?: (webhook: Received) => number | Promise<number>, stateFile: string | null = null) {
  const receiver = await startReceiver(sim, answer);
  endings.push(() => receiver.close());
  await startOn(receiver.url, stateFile);
  return receiver.received;
}

async function startOn(webhookUrl: string, stateFile: string | null): Promise<Simulator> {
  const { port, apiKey, webhookSecret } = sim;
  const simulator = await startSimulator({ port, apiKey, webhookSecret, webhookUrl, stateFile });
  endings.push(() => simulator.close());
  return simulator;
}

function pay(more: object = {}) {
  const payment = { order_id: 'ord_1', amount: 4_990, currency: 'EUR', ...more };
  return control<{ payment_id: string; event_id: string }>(sim, 'POST', '/payments', payment);
}

const state = (): Promise<SimState> => control<SimState>(sim, 'GET', '/state');
const drain = (): Promise<unknown> => control(sim, 'POST', '/drain?timeout_ms=20000');

describe('a webhook', () => {
  it('is signed, understood by the adapter, and sent once', async () => {
    const received = await start();
    const { payment_id, event_id } = await pay({ reference: 'ref:1' });
    expect(await drain()).toEqual({ drained: true, pending: 0 });
    expect(received.map(({ id, type }) => [id, type])).toEqual([[event_id, 'payment.captured']]);
    const reading = adapterOf(sim).read(Buffer.from(received[0]?.body ?? ''), { 'webhook-id': event_id });
    expect(reading).toMatchObject({
      verdict: 'take',
      paymentId: payment_id,
      orderId: 'ord_1',
      amount: 4_990n,
      currency: 'EUR',
      reference: 'ref:1',
      mode: 'test',
    });
  });

  it('is sent again, byte for byte, until it is acknowledged', async () => {
    let refusals = 3;
    const received = await start(() => (refusals-- > 0 ? 503 : 200));
    await pay();
    await drain();
    expect(received).toHaveLength(4);
    expect(new Set(received.map(({ id, body }) => id + body)).size).toBe(1);
    expect((await state()).deliveries).toMatchObject({ attempts: 4, acknowledged: 1, pending: 0 });
  });

  it('can be recorded only, sent in several copies side by side, and sent once more', async () => {
    const received = await start();
    const { event_id } = await pay({ deliver: false });
    await drain();
    expect(received).toEqual([]);
    await control(sim, 'POST', `/events/${event_id}/redeliver`, { times: 20 });
    await drain();
    expect(received.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, () => event_id));
  });

  it('tells of refunds, disputes, payouts and anything else', async () => {
    const received = await start();
    const { payment_id } = await pay({ deliver: false });
    const { refund_id } = await control<{ refund_id: string }>(sim, 'POST', '/refunds', {
      payment_id,
      amount: 100,
      status: 'pending',
    });
    await control(sim, 'POST', `/refunds/${refund_id}/succeed`);
    await control(sim, 'POST', `/refunds/${refund_id}/fail`);
    await control(sim, 'POST', '/disputes', { payment_id, dispute_id: 'dp_1', status: 'opened' });
    await control(sim, 'POST', '/events', { id: 'evt_own', type: 'weird.thing', data: { payment_id: '' } });
    await drain();
    const types = ['dispute.opened', 'refund.failed', 'refund.pending', 'refund.succeeded', 'weird.thing'];
    expect(received.map(({ type }) => type).sort()).toEqual(types);
    expect(received.find(({ id }) => id === 'evt_own')?.data).toEqual({ payment_id: '' });
  });
});

describe('faults of webhooks', () => {
  it('repeat: further copies of the same event', async () => {
    const received = await start();
    await control(sim, 'PUT', '/faults', { repeat: { chance: 1, times: 4 } });
    for (let n = 0; n < 10; n++) await pay();
    await drain();
    expect(received.length).toBeGreaterThanOrEqual(20);
    expect(received.length).toBeLessThanOrEqual(50);
    expect(new Set(received.map(({ id }) => id)).size).toBe(10);
  });

  it('reorder: an event is overtaken by a later one', async () => {
    const received = await start();
    await control(sim, 'PUT', '/faults', { reorder: { next: 1, ms: [400, 400] } });
    const first = await pay();
    const second = await pay();
    await drain();
    expect(received.map(({ id }) => id)).toEqual([second.event_id, first.event_id]);
  });

  it('drop: never sent, and found in the list of events', async () => {
    const received = await start();
    await control(sim, 'PUT', '/faults', { drop: 1 });
    const { event_id } = await pay();
    await drain();
    expect(received).toEqual([]);
    expect((await state()).deliveries).toMatchObject({ dropped: 1, pending: 0 });
    const events = await fetch(`${sim.url}/events`, { headers: { authorization: `Bearer ${sim.apiKey}` } });
    expect(await events.json()).toMatchObject({
      data: [{ id: event_id, type: 'payment.captured', data: { order_id: 'ord_1' } }],
      next: null,
    });
  });

  it('lose_ack: sent again although it was acknowledged', async () => {
    const received = await start();
    await control(sim, 'PUT', '/faults', { lose_ack: { next: 2 } });
    await pay();
    await drain();
    expect(received).toHaveLength(3);
  });

  it('list_late: sent, and in the list of events only later, in its own place', async () => {
    await start();
    await control(sim, 'PUT', '/faults', { list_late: { ms: [300, 300], next: 1 } });
    const late = await pay();
    const next = await pay();
    const listed = async (): Promise<string[]> => {
      const answer = await fetch(`${sim.url}/events`, { headers: { authorization: `Bearer ${sim.apiKey}` } });
      return ((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
    };
    expect(await listed()).toContain(next.event_id);
    await eventually('the late one is listed', async () => (await listed()).length === 2);
    expect(await listed()).toEqual([late.event_id, next.event_id]);
  });

  it('delay_ms, for some events only', async () => {
    const received = await start();
    await control(sim, 'PUT', '/faults', { delay_ms: { ms: [400, 400], calls: ['payment.authorized'] } });
    await pay({ status: 'authorized' });
    await pay();
    await drain();
    expect(received.map(({ type }) => type)).toEqual(['payment.captured', 'payment.authorized']);
  });
});

describe('the money', () => {
  it('is captured once; any other step follows the states of a payment', async () => {
    await start();
    const { payment_id } = await pay({ status: 'pending' });
    await control(sim, 'POST', `/payments/${payment_id}/authorize`);
    await control(sim, 'POST', `/payments/${payment_id}/fail`);
    await control(sim, 'POST', `/payments/${payment_id}/capture`);
    await expect(control(sim, 'POST', `/payments/${payment_id}/capture`)).rejects.toThrow(
      '409 {"code":"already_captured"',
    );
    await expect(control(sim, 'POST', `/payments/${payment_id}/expire`)).rejects.toThrow('already_captured');
    await expect(pay({ payment_id })).rejects.toThrow('payment_exists');
  });

  it('is paid on the checkout page, twice by whoever clicks twice', async () => {
    const received = await start();
    const order = { orderId: 'ord_<1>', amount: 500n, currency: 'JPY', reference: 'c:1', idempotencyKey: 'c:1' };
    const { payment, checkoutUrl } = await adapterOf(sim).preparePayment({
      ...order,
      returnUrl: 'http://127.0.0.1:2/thanks?x=1',
    });
    const url = checkoutUrl ?? '';
    const page = await (await fetch(url)).text();
    expect(page).toContain('500 JPY');
    expect(page).not.toContain('ord_<1>');
    const clicks = await Promise.all([1, 2].map(() => fetch(`${url}/pay`, { method: 'POST', redirect: 'manual' })));
    const { payments } = await state();
    expect(payments.map(({ order_id, status }) => [order_id, status])).toEqual([
      ['ord_<1>', 'captured'],
      ['ord_<1>', 'captured'],
    ]);
    expect(new Set(clicks.map((click) => click.headers.get('location')))).toEqual(
      new Set(
        payments.map(({ payment_id }) => `http://127.0.0.1:2/thanks?x=1&payment_id=${payment_id}&status=captured`),
      ),
    );
    expect(payments[0]?.payment_id).toBe(payment.paymentId);
    await drain();
    expect(received.map(({ type }) => type)).toEqual(['payment.captured', 'payment.captured']);
  });

  it('can fail on the checkout page, and be paid after all', async () => {
    await start();
    const { payment_id } = await pay({ status: 'pending', deliver: false });
    await fetch(`${sim.url}/checkout/${payment_id}/fail`, { method: 'POST' });
    expect((await state()).payments).toMatchObject([{ status: 'failed' }]);
    await fetch(`${sim.url}/checkout/${payment_id}/pay`, { method: 'POST' });
    expect((await state()).payments).toMatchObject([{ status: 'captured' }]);
  });

  it('charges a saved card, declines one, and pays out', async () => {
    const received = await start();
    const post = async (path: string, body: object): Promise<[number, Record<string, unknown>]> => {
      const headers = { authorization: `Bearer ${sim.apiKey}` };
      const response = await fetch(sim.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
      return [response.status, (await response.json()) as Record<string, unknown>];
    };
    const charge = { customer_id: 'cus_1', payment_method: 'pm_card', amount: 100, currency: 'EUR', reference: 'ch:1' };
    expect(await post('/charges', charge)).toMatchObject([201, { status: 'captured', amount: 100, reference: 'ch:1' }]);
    expect(await post('/charges', { ...charge, payment_method: 'pm_card_declined' })).toMatchObject([
      402,
      { code: 'card_declined' },
    ]);
    const payout = { seller_id: 's_1', amount: 100, currency: 'EUR', destination: 'acct_1', reference: 'po:1' };
    expect(await post('/payouts', payout)).toMatchObject([201, { status: 'paid', reference: 'po:1' }]);
    expect(await post('/payouts', { ...payout, amount: 1.5 })).toMatchObject([400, { code: 'invalid_request' }]);
    expect(await post('/payouts', [])).toMatchObject([400, { code: 'invalid_request' }]);
    await drain();
    expect(received.map(({ type }) => type).sort()).toEqual(['payment.captured', 'payout.paid']);
  });
});

describe('the list of events', () => {
  it('comes in pages, from any event on', async () => {
    await start();
    const ids: string[] = [];
    for (let n = 0; n < 7; n++) ids.push((await pay({ deliver: false })).event_id);
    const page = async (query: string) => {
      const response = await fetch(`${sim.url}/events${query}`, { headers: { authorization: `Bearer ${sim.apiKey}` } });
      const { data, next } = (await response.json()) as { data: { id: string }[]; next: string | null };
      return [data.map(({ id }) => id), next];
    };
    expect(await page('?limit=3')).toEqual([ids.slice(0, 3), ids[2]]);
    expect(await page(`?limit=4&after=${ids[2] ?? ''}`)).toEqual([ids.slice(3), null]);
    expect(await page(`?after=${ids[6] ?? ''}`)).toEqual([[], null]);
  });
});

describe('a killed simulator', () => {
  it('has forgotten nothing, and sends what was not acknowledged', async () => {
    const stateFile = join(folder, 'killed.json');
    let open = false;
    const receiver = await startReceiver(sim, () => (open ? 200 : 503));
    endings.push(() => receiver.close());
    const simulator = await startSimulatorProcess(sim, { webhookUrl: receiver.url, stateFile });
    const { payment_id, event_id } = await pay();
    const adapter = adapterOf(sim);
    const refund = { paymentId: payment_id, amount: 500n, currency: 'EUR', reference: 'rf:1', idempotencyKey: 'rf:1' };
    await control(sim, 'PUT', '/faults', { seed: 42, lose_answer: { next: 1 } });
    await expect(adapter.createRefund(refund)).rejects.toThrow();
    await eventually('a webhook comes', () => receiver.received.length > 0);
    await simulator.kill('SIGKILL');
    await simulator.restart();
    expect(await control(sim, 'GET', '/faults')).toMatchObject({ seed: 42, lose_answer: { next: 0 } });
    const [found] = await adapter.findRefunds(payment_id, 'rf:1');
    expect(await adapter.createRefund(refund)).toEqual(found);
    expect(await adapter.fetchPayment(payment_id)).toMatchObject({ amountRefunded: 500n });
    open = true;
    const before = receiver.received.length;
    await drain();
    const since = receiver.received.slice(before).map(({ type }) => type);
    expect(since.sort()).toEqual(['payment.captured', 'refund.succeeded']);
    expect(receiver.received[0]?.id).toBe(event_id);
    expect(await simulator.kill('SIGTERM')).toMatchObject({ code: 0 });
  });

  it('does not stumble over a line that was torn off, and says where a file is damaged', async () => {
    const stateFile = join(folder, 'torn.json');
    await start(undefined, stateFile);
    await pay();
    for (const end of endings.splice(0).reverse()) await end();
    writeFileSync(stateFile, `${readFileSync(stateFile, 'utf8')}[["payments",{"id":"pay_half`);
    await startOn('http://127.0.0.1:2', stateFile);
    expect((await state()).payments).toHaveLength(1);
    for (const end of endings.splice(0)) await end();
    writeFileSync(stateFile, `no JSON\n${readFileSync(stateFile, 'utf8')}`);
    await expect(startOn('http://127.0.0.1:2', stateFile)).rejects.toThrow(`Line 1 of ${stateFile} is damaged`);
  });
});

it('a reset forgets everything, and no id ever comes again', async () => {
  await start();
  const before = await pay();
  await control(sim, 'PUT', '/faults', { drop: 1 });
  await control(sim, 'POST', '/reset');
  expect(await state()).toMatchObject({ payments: [], deliveries: { attempts: 0, pending: 0 } });
  expect(await control(sim, 'GET', '/faults')).toEqual({ seed: 1 });
  expect((await pay()).payment_id).not.toBe(before.payment_id);
});

it('a thousand payments are made and delivered within seconds', async () => {
  const received = await start();
  const began = Date.now();
  for (let block = 0; block < 20; block++) await Promise.all(Array.from({ length: 50 }, () => pay()));
  expect(await drain()).toMatchObject({ drained: true });
  expect(new Set(received.map(({ id }) => id)).size).toBe(1_000);
  // Twenty times what it takes on an idle machine: a hang or a quadratic cost shows, a busy neighbour does not.
  expect(Date.now() - began).toBeLessThan(25_000);
});

it('a port that is taken is an error, not a crash', async () => {
  await start();
  await expect(startOn('http://127.0.0.1:2', null)).rejects.toThrow('EADDRINUSE');
});
