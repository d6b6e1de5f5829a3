import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createFindMissingWebhooks } from '../../src/activities/find-missing-webhooks.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import type { Gateway } from '../../src/gateways/gateway.ts';
import { createRazorpayGateway } from '../../src/gateways/razorpay/create-razorpay-gateway.ts';
import type { Logger } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startRazorpayStandIn, type RazorpayStandIn } from '../support/razorpay-stand-in.ts';
import { sendJson } from '../support/scripted-server.ts';
import { stripeThat } from '../support/scripted-stripe.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
afterEach(() =>
  database.pool.query(
    'truncate event_listings, webhook_events, webhook_deliveries, processed_events, dead_letters, payments, refunds, disputes cascade',
  ),
);

/** A whole pass; answers what was found, by what it claims. */
async function pass(gateway: Gateway): Promise<string[]> {
  const find = createFindMissingWebhooks({
    ...{ pool: database.pool, metrics: createMetrics(), wakeRelay: () => undefined, policies: DEFAULT_POLICIES },
    sources: new Map([[gateway.source, { gateway, mode: 'test' }]]),
    log: { warn: () => undefined } as unknown as Logger,
  });
  const found: string[] = [];
  for (;;) {
    const page = await find(gateway.source);
    expect(page.problem).toBeNull();
    found.push(...page.found);
    if (!page.more) break;
  }
  const { rows } = await database.pool.query<{ fact: string }>(
    `select concat_ws(' ', subject, object_id, claimed) as fact from webhook_events where event_id = any($1) order by 1`,
    [found],
  );
  return rows.map(({ fact }) => fact);
}

/** What we know of payments and refunds by whichever way. */
async function knowPayment(source: string, id: string, status: string): Promise<void> {
  await database.pool.query(
    `insert into payments (source, payment_id, status, amount, currency) values ($1, $2, $3, 50000, 'INR')
     on conflict (source, payment_id) do update set status = excluded.status`,
    [source, id, status],
  );
}

const DAY = 86_400;

/** As if this installation were that many seconds old. */
const beginAt = (source: string, ago: number) =>
  database.pool.query('insert into event_listings (source, since) values ($1, now() - make_interval(secs => $2))', [
    source,
    ago,
  ]);

/** How many seconds ago the part of the list ends that is not listed again. */
async function settledAgo(source: string): Promise<number> {
  const { rows } = await database.pool.query<{ settled: string | null }>(
    'select settled from event_listings where source = $1',
    [source],
  );
  return Date.now() / 1000 - Number(rows[0]?.settled ?? 0);
}

describe('a gateway that lists no events, but what happened', () => {
  let standIn: RazorpayStandIn;
  let gateway: Gateway;
  beforeAll(async () => {
    standIn = await startRazorpayStandIn();
    const config = { name: 'rzp', kind: 'razorpay', mode: 'test', accountNumber: null, webhookSecrets: [] } as const;
    gateway = createRazorpayGateway({ ...config, apiBase: standIn.url, apiKey: standIn.apiKey });
  });
  afterAll(() => standIn.close());
  afterEach(() => {
    standIn.payments.clear();
    standIn.refunds.length = 0;
  });
  const anHourAgo = () => Math.floor(Date.now() / 1000) - 3600;

  it('is believed only where it shows more than is known here', async () => {
    for (const id of ['pay_known', 'pay_behind', 'pay_unknown']) standIn.addPayment({ id, created_at: anHourAgo() });
    await knowPayment('rzp', 'pay_known', 'captured');
    await knowPayment('rzp', 'pay_behind', 'authorized');
    expect(await pass(gateway)).toEqual(['payment pay_behind captured', 'payment pay_unknown captured']);
    expect(await pass(gateway)).toEqual([]);
  });

  it('tells of a payment that was captured hours after it was made', async () => {
    const payment = standIn.addPayment({
      id: 'pay_late',
      status: 'authorized',
      captured: false,
      created_at: anHourAgo() - 7_200,
    });
    expect(await pass(gateway)).toEqual(['payment pay_late authorized']);
    await knowPayment('rzp', 'pay_late', 'authorized');
    Object.assign(payment, { status: 'captured', captured: true });
    expect(await pass(gateway)).toEqual(['payment pay_late captured']);
    await knowPayment('rzp', 'pay_late', 'captured');
    expect(await pass(gateway)).toEqual([]);
  });

  it('is not asked again for the days that are settled', async () => {
    await beginAt('rzp', 4 * DAY);
    standIn.addPayment({ id: 'pay_old', created_at: anHourAgo() - 3 * DAY });
    expect(await pass(gateway)).toEqual(['payment pay_old captured']);
    expect(await settledAgo('rzp')).toBeLessThan(DAY + 600);
  });

  it('tells of a refund that somebody made there', async () => {
    standIn.addPayment({ id: 'pay_back', created_at: anHourAgo() });
    await knowPayment('rzp', 'pay_back', 'captured');
    standIn.refunds.push({
      ...{
        id: 'rfnd_1',
        entity: 'refund',
        amount: 100,
        currency: 'INR',
        payment_id: 'pay_back',
        notes: [],
        receipt: null,
      },
      ...{ status: 'processed', created_at: anHourAgo() },
    });
    expect(await pass(gateway)).toEqual(['refund rfnd_1 succeeded']);
    expect(await pass(gateway)).toEqual([]);
  });
});

describe('a gateway that lists events which no webhook was due for', () => {
  const event = (id: string, type: string, object: object) => ({
    ...{ id, object: 'event', type, created: Math.floor(Date.now() / 1000) - 1800, livemode: false, data: { object } },
  });
  const money = { amount: 5000, amount_received: 5000, currency: 'eur' };
  const events = [
    event('evt_intent', 'payment_intent.succeeded', {
      id: 'pi_1',
      object: 'payment_intent',
      status: 'succeeded',
      ...money,
    }),
    event('evt_charge', 'charge.succeeded', {
      id: 'ch_1',
      object: 'charge',
      payment_intent: 'pi_1',
      captured: true,
      status: 'succeeded',
      ...money,
    }),
    event('evt_payout', 'payout.paid', {
      id: 'po_1',
      object: 'payout',
      status: 'paid',
      amount: 5000,
      currency: 'eur',
      metadata: {},
    }),
  ];

  it('says nothing new by what is known already', async () => {
    const { gateway } = await stripeThat((_request, response) =>
      sendJson(response, 200, { object: 'list', data: events, has_more: false }),
    );
    await knowPayment('shop', 'pi_1', 'captured');
    expect(await pass(gateway)).toEqual([]);
    expect((await database.pool.query('select 1 from webhook_events')).rowCount).toBe(0);
  });

  it('is not asked again for the stretches that are settled, however many pages they have', async () => {
    const all = Array.from({ length: 150 }, (_, at) => ({
      ...event(`evt_${at}`, 'payment_intent.succeeded', { id: `pi_${at}`, object: 'payment_intent', ...money }),
      created: Math.floor(Date.now() / 1000) - 36 * 3600 - at,
    }));
    const { gateway } = await stripeThat(({ path }, response) => {
      const query = new URL(path, 'http://stripe').searchParams;
      const fitting = all.filter(
        ({ created }) => created >= Number(query.get('created[gte]')) && created < Number(query.get('created[lt]')),
      );
      const begin = fitting.findIndex(({ id }) => id === query.get('starting_after')) + 1;
      const data = fitting.slice(begin, begin + 100);
      sendJson(response, 200, { object: 'list', data, has_more: begin + 100 < fitting.length });
    });
    await beginAt('shop', 3 * DAY);
    expect(await pass(gateway)).toHaveLength(150);
    expect(await settledAgo('shop')).toBeLessThan(3600 + 600);
  });

  it('tells that an inquiry which is known has become a dispute', async () => {
    const dispute = { id: 'dp_1', object: 'dispute', payment_intent: 'pi_1', status: 'needs_response', ...money };
    const { gateway } = await stripeThat((_request, response) =>
      sendJson(response, 200, {
        object: 'list',
        data: [event('evt_gone', 'charge.dispute.funds_withdrawn', dispute)],
        has_more: false,
      }),
    );
    await knowPayment('shop', 'pi_1', 'captured');
    await database.pool.query(
      `insert into disputes (source, dispute_id, payment_id, status, amount, currency, fee_currency, withheld)
       values ('shop', 'dp_1', 'pi_1', 'opened', 5000, 'EUR', 'EUR', false)`,
    );
    expect(await pass(gateway)).toEqual(['dispute dp_1 opened']);
    expect(await pass(gateway)).toEqual([]);
  });

  it('says it once where it is not', async () => {
    const { gateway } = await stripeThat((_request, response) =>
      sendJson(response, 200, { object: 'list', data: events, has_more: false }),
    );
    expect(await pass(gateway)).toContain('payment pi_1 captured');
    const { rows } = await database.pool.query(
      `select event_id from webhook_events where event_type = 'payment_intent.succeeded'`,
    );
    expect(rows).toEqual([{ event_id: 'evt_intent' }]);
    expect(await pass(gateway)).toEqual([]);
  });
});
