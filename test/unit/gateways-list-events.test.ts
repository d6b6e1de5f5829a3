import { afterEach, describe, expect, it } from 'vitest';
import type { EventPage, Gateway, ListedEvent } from '../../src/gateways/gateway.ts';
import { createRazorpayGateway } from '../../src/gateways/razorpay/create-razorpay-gateway.ts';
import { startRazorpayStandIn, type RazorpayStandIn } from '../support/razorpay-stand-in.ts';
import { sendJson } from '../support/scripted-server.ts';
import { shopFailureOf, refusal, stripeThat } from '../support/scripted-stripe.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;
/** A round moment, so that what is asked for can be read. */
const NOW = 1_764_500_000;
const now = new Date(NOW * 1000);

interface Pages {
  readonly events: ListedEvent[];
  readonly pages: EventPage[];
}

/** From a place to the end of the list. */
async function listAll(gateway: Gateway, since: number, after: string | null = null): Promise<Pages> {
  const pages: EventPage[] = [];
  for (let place = after; ;) {
    const page = await gateway.listEvents({ after: place, since: new Date(since * 1000), now, limit: 100 });
    pages.push(page);
    if (page.next === null) return { pages, events: pages.flatMap(({ events }) => events) };
    place = page.next;
  }
}

const read = (gateway: Gateway, { body, headers }: ListedEvent) => gateway.read(body, headers);

describe('Stripe', () => {
  const intent = (id: string, created: number) => ({
    ...{ id, object: 'event', type: 'payment_intent.succeeded', created, livemode: false },
    data: {
      object: {
        id: `pi_${id}`,
        object: 'payment_intent',
        status: 'succeeded',
        amount: 5000,
        amount_received: 5000,
        currency: 'eur',
      },
    },
  });

  /** Lists as Stripe does: newest first, by what is asked for. */
  function listing(all: readonly ReturnType<typeof intent>[]) {
    return stripeThat(({ path }, response) => {
      const query = new URL(path, 'http://stripe').searchParams;
      const [from, to] = [Number(query.get('created[gte]')), Number(query.get('created[lt]'))];
      const fitting = all
        .filter(({ created }) => created >= from && created < to)
        .toSorted((a, b) => b.created - a.created);
      const begin = fitting.findIndex(({ id }) => id === query.get('starting_after')) + 1;
      const data = fitting.slice(begin, begin + Number(query.get('limit')));
      sendJson(response, 200, {
        object: 'list',
        url: '/v1/events',
        data,
        has_more: begin + data.length < fitting.length,
      });
    });
  }

  it('is asked for the types that mean something here, twenty at most, a day at a time, and then for the last hour', async () => {
    const { gateway, requests } = await listing([]);
    await listAll(gateway, NOW - 2 * DAY);
    const asked = requests.map(({ path }) => new URL(path, 'http://stripe').searchParams);
    expect(
      asked.map((query) => [query.get('created[gte]'), query.get('created[lt]')].map((at) => Number(at) - NOW)),
    ).toEqual([
      [-2 * DAY, -DAY],
      [-DAY, -HOUR],
      [-HOUR, 0],
    ]);
    const types = [...asked[0]!].filter(([name]) => name.startsWith('types')).map(([, type]) => type);
    expect(types).toHaveLength(20);
    expect(types).toEqual(expect.arrayContaining(['payment_intent.succeeded', 'refund.updated', 'payout.paid']));
  });

  it('gives each event as its webhook has it, page after page', async () => {
    const all = Array.from({ length: 250 }, (_, at) => intent(`evt_${at}`, NOW - 30 * 60 - at));
    const { gateway, requests } = await listing(all);
    const { events } = await listAll(gateway, NOW - HOUR);
    expect(new Set(events.map((event) => read(gateway, event).eventId)).size).toBe(250);
    expect(requests).toHaveLength(3);
    expect(read(gateway, events[0]!)).toMatchObject({
      verdict: 'take',
      paymentId: 'pi_evt_0',
      claimed: 'captured',
      mode: 'test',
    });
  });

  it('goes on in the middle of a stretch, and begins the next listing with the last hour', async () => {
    const { gateway } = await listing(Array.from({ length: 150 }, (_, at) => intent(`evt_${at}`, NOW - 2 * HOUR - at)));
    const { pages } = await listAll(gateway, NOW - DAY);
    expect(pages.map(({ next, settled }) => [next, settled])).toEqual([
      [`${NOW - DAY}.${NOW - HOUR}.evt_99`, null],
      [String(NOW - HOUR), true],
      [null, false],
    ]);
    expect((await listAll(gateway, 0, `${NOW - DAY}.${NOW - HOUR}.evt_99`)).events).toHaveLength(50);
  });

  it('that cannot narrow its list is asked for all of it, and a place that it does not know is no such case', async () => {
    const narrow = await stripeThat(({ path }, response) =>
      path.includes('types')
        ? sendJson(response, 400, { error: { type: 'invalid_request_error' } })
        : sendJson(response, 200, { object: 'list', data: [intent('evt_1', NOW - 60)], has_more: false }),
    );
    expect((await listAll(narrow.gateway, NOW - HOUR)).events).toHaveLength(1);
    const { gateway, requests } = await stripeThat(
      refusal(400, { type: 'invalid_request_error', code: 'resource_missing', param: 'starting_after' }),
    );
    expect(await shopFailureOf(listAll(gateway, NOW - HOUR))).toMatchObject({
      kind: 'temporary',
      code: 'resource_missing',
    });
    expect(requests).toHaveLength(1);
  });

  it.each([
    ['refuses', refusal(403, { type: 'invalid_request_error' }), 'unauthorized'],
    ['fails', refusal(500, { type: 'api_error' }), 'http_500'],
    ['knows no such list', refusal(404, { type: 'invalid_request_error' }), 'http_404'],
  ])('that %s gives no empty list', async (_what, script, code) => {
    const { gateway } = await stripeThat(script);
    expect(await shopFailureOf(listAll(gateway, NOW - HOUR))).toMatchObject({ kind: 'temporary', code });
  });

  it('that answers something else gives no empty list', async () => {
    const { gateway } = await stripeThat((_request, response) =>
      sendJson(response, 200, { object: 'list', data: ['x'] }),
    );
    expect(await shopFailureOf(listAll(gateway, NOW - HOUR))).toMatchObject({ kind: 'temporary' });
  });
});

describe('Razorpay', () => {
  const standIns: RazorpayStandIn[] = [];
  afterEach(() => Promise.all(standIns.splice(0).map((one) => one.close())));

  async function razorpay(paysOut = false): Promise<{ gateway: Gateway; standIn: RazorpayStandIn }> {
    const standIn = await startRazorpayStandIn();
    standIns.push(standIn);
    const config = { name: 'rzp', kind: 'razorpay', mode: 'test', webhookSecrets: [] } as const;
    const accountNumber = paysOut ? standIn.payouts.accountNumber : null;
    const gateway = createRazorpayGateway({ ...config, accountNumber, apiBase: standIn.url, apiKey: standIn.apiKey });
    return { gateway, standIn };
  }

  it('lists payments and refunds as events of a derived id, each with what its state claims', async () => {
    const { gateway, standIn } = await razorpay();
    const at = NOW - HOUR;
    for (const [id, status, captured] of [
      ['pay_made', 'created', false],
      ['pay_held', 'authorized', false],
      ['pay_paid', 'captured', true],
      ['pay_back', 'refunded', true],
      ['pay_released', 'refunded', false],
      ['pay_no', 'failed', false],
      ['pay_new', 'mooted' as never, false],
    ] as const)
      standIn.addPayment({ id, status, captured, created_at: at, notes: { order_id: `ord_${id}` } });
    for (const status of ['pending', 'processed', 'failed'] as const)
      standIn.refunds.push({
        ...{ id: `rfnd_${status}`, entity: 'refund', amount: 100, currency: 'INR', payment_id: 'pay_paid' },
        ...{ notes: [], receipt: null, status, created_at: at },
      });
    const { events } = await listAll(gateway, NOW - DAY);
    const readings = events.map((event) => read(gateway, event));
    expect(readings.map(({ eventId }) => eventId)).toEqual(readings.map(() => null));
    expect(readings.map((one) => [one.objectId, one.subject, one.claimed, one.verdict, one.occurredAt])).toEqual([
      [null, null, null, 'hold', at * 1000],
      ['pay_no', 'payment', 'failed', 'take', at * 1000],
      ['pay_released', 'payment', 'expired', 'take', at * 1000],
      ['pay_back', 'payment', 'captured', 'take', at * 1000],
      ['pay_paid', 'payment', 'captured', 'take', at * 1000],
      ['pay_held', 'payment', 'authorized', 'take', at * 1000],
      ['rfnd_failed', 'refund', 'failed', 'take', at * 1000],
      ['rfnd_processed', 'refund', 'succeeded', 'take', at * 1000],
      ['rfnd_pending', 'refund', 'pending', 'take', at * 1000],
    ]);
    expect(readings[4]).toMatchObject({
      paymentId: 'pay_paid',
      orderId: 'ord_pay_paid',
      amount: 50_000n,
      currency: 'INR',
    });
  });

  it('lists payouts where an account pays them, ours by their note', async () => {
    const { gateway, standIn } = await razorpay(true);
    const to = standIn.payouts.addFundAccount('vpa');
    const body = {
      account_number: standIn.payouts.accountNumber,
      fund_account_id: to,
      amount: 100,
      currency: 'INR',
      mode: 'UPI',
    };
    standIn.payouts.make({
      ...body,
      purpose: 'payout',
      reference_id: 'r',
      notes: { paidonce_reference: 'payout:s:2026-11-30' },
    });
    Object.assign(standIn.payouts.made[0]!, { created_at: NOW - 60, status: 'reversed' });
    const { events } = await listAll(gateway, NOW - HOUR);
    expect(events.map((event) => read(gateway, event))).toMatchObject([
      { subject: 'payout', claimed: 'failed', reference: 'payout:s:2026-11-30', verdict: 'take' },
    ]);
    expect((await listAll((await razorpay()).gateway, NOW - HOUR)).events).toEqual([]);
  });

  it('turns every page, whatever the gateway puts on one', async () => {
    const { gateway, standIn } = await razorpay();
    for (let at = 0; at < 230; at += 1) standIn.addPayment({ id: `pay_${at}`, created_at: NOW - HOUR - at });
    const { events } = await listAll(gateway, NOW - DAY);
    expect(new Set(events.map((event) => read(gateway, event).objectId)).size).toBe(230);
  });

  it('lists a day anew each time, in which what was made may still come to its end', async () => {
    const { gateway } = await razorpay();
    const { pages } = await listAll(gateway, NOW - 3 * DAY);
    expect(pages.filter(({ settled }) => settled).map(({ next }) => Number(next) - NOW)).toEqual([-2 * DAY, -DAY]);
  });
});
