import { createHash } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createFindMissingWebhooks } from '../../src/activities/find-missing-webhooks.ts';
import { runAudit } from '../../src/database/audit.ts';
import { readEvent } from '../../src/database/read-event.ts';
import type { Delivery } from '../../src/database/delivery-statement.ts';
import { storeDelivery } from '../../src/database/store-delivery.ts';
import { storeFoundEvents } from '../../src/database/store-found-events.ts';
import { DEFAULT_POLICIES, type Policies } from '../../src/domain/policies.ts';
import { admitted } from '../../src/gateways/admitted.ts';
import type { Logger } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  listedEntries as entries,
  listedEntry,
  startListingGateway,
  type ListedEntry,
  type ListingGateway,
  wholePass,
} from '../support/listing-gateway.ts';

let database: TestDatabase;
let gateway: ListingGateway;
beforeAll(async () => {
  [database, gateway] = await Promise.all([createTestDatabase(), startListingGateway()]);
});
afterAll(() => Promise.all([gateway.close(), database.drop()]));
beforeEach(() => {
  gateway.list = [];
  gateway.trouble = null;
  gateway.requests.length = 0;
  warned.length = 0;
});
afterEach(() =>
  database.pool.query(
    'truncate event_listings, webhook_events, webhook_deliveries, processed_events, dead_letters, alerts cascade',
  ),
);

const warned: { readonly fields: Record<string, unknown>; readonly text: string }[] = [];
const metrics = createMetrics();

function finder(over: { readonly pool?: pg.Pool; readonly policies?: Partial<Policies> } = {}) {
  return createFindMissingWebhooks({
    ...{ pool: over.pool ?? database.pool, metrics, wakeRelay: () => undefined },
    sources: new Map([['sim', gateway.source]]),
    policies: { ...DEFAULT_POLICIES, ...over.policies },
    log: {
      warn: (fields: Record<string, unknown>, text: string) => warned.push({ fields, text }),
    } as unknown as Logger,
  });
}

const pass = (findMissingWebhooks = finder()) => wholePass(findMissingWebhooks);

/** Its webhook, as the API takes it. */
function webhookOf({ id, ...body }: ListedEntry, bytes = JSON.stringify(body)): Delivery {
  const buffer = Buffer.from(bytes);
  const headers = { 'webhook-id': id };
  const bodySha256 = createHash('sha256').update(buffer).digest();
  return {
    ...admitted(DEFAULT_POLICIES, gateway.source, buffer, headers, bodySha256),
    ...{ source: 'sim', body: buffer, bodySha256, headers: JSON.stringify(headers), remoteAddress: null },
  };
}

const deliver = (entry: ListedEntry, bytes?: string) => storeDelivery(database.pool, webhookOf(entry, bytes));

const event = (id: string) => readEvent(database.pool, 'sim', id);
const countOf = async (from: string) =>
  Number((await database.pool.query<{ n: bigint }>(`select count(*) as n from ${from}`)).rows[0]?.n);

/** The audit gives two copies that race a minute. */
const agesOfDeliveries = () =>
  database.pool.query(`update webhook_deliveries set received_at = received_at - interval '2 minutes'`);

const KILLED = new Error('killed here');
const VALUE_REFUSED = Object.assign(new pg.DatabaseError('out of range', 0, 'error'), { code: '22003' });

/** A pool whose statements are counted, and of which some fail. */
function watchedPool(fails: (sql: string, values: readonly unknown[]) => Error | null = () => null): {
  readonly pool: pg.Pool;
  readonly statements: string[];
} {
  const statements: string[] = [];
  const pool = new Proxy(database.pool, {
    get(of, name) {
      const value: unknown = Reflect.get(of, name);
      if (typeof value !== 'function') return value;
      if (name !== 'query') return (value as (...args: unknown[]) => unknown).bind(of);
      return (sql: string, values: unknown[] = []) => {
        statements.push(sql);
        const error = fails(sql, values);
        return error === null ? of.query(sql, values) : Promise.reject(error);
      };
    },
  });
  return { pool, statements };
}

describe('an entry of the list', () => {
  it('that is as young as a webhook on its way is left to it, and found once it is not', async () => {
    gateway.list = [listedEntry('young', 1)];
    expect(await pass()).toMatchObject({ listed: 1, found: [], left: 1 });
    expect(await event('young')).toBeNull();
    expect(await pass(finder({ policies: { missingWebhookAfterMs: 30_000 } }))).toMatchObject({
      found: ['young'],
      left: 0,
    });
  });

  it('that appears late, behind what was listed already, is found', async () => {
    const before = entries(150, 30);
    gateway.list = before;
    expect((await pass()).found).toHaveLength(150);
    gateway.list = [...before.slice(0, 20), listedEntry('late', 30), ...before.slice(20)];
    expect((await pass()).found).toEqual(['late']);
  });

  it('that appears late among young ones is found, although older ones follow', async () => {
    const [young, old] = [entries(100, 30, 'young'), entries(150, 90, 'old')];
    gateway.list = [...young, ...old];
    await pass();
    gateway.list = [...young.slice(0, 20), listedEntry('late', 30), ...young.slice(20), ...old];
    expect((await pass()).found).toEqual(['late']);
  });

  it('that is an hour older than all that may appear is not listed again', async () => {
    gateway.list = [...entries(500, 90), ...entries(50, 30, 'new')];
    expect((await pass()).listed).toBe(550);
    expect(await pass()).toMatchObject({ listed: 50, found: [] });
  });

  it('that claims a time in the future is found all the same, and holds up nothing', async () => {
    gateway.list = [listedEntry('tomorrow', -60 * 24), ...entries(150, 90)];
    expect((await pass()).found).toHaveLength(151);
    expect((await pass()).listed).toBe(51);
  });

  it('that cannot be read is held and put before a person, and those beside it are found', async () => {
    gateway.list = [
      ...['text', null, { id: 'bare' }, { type: 'payment.captured', data: {} }],
      listedEntry('half', 10, { amount: 'much' }),
      listedEntry('nul', 10, { note: 'a\u0000b' }),
      listedEntry('good', 10),
    ];
    const { found } = await pass();
    expect(found).toHaveLength(7);
    expect(await countOf(`webhook_events where state = 'held'`)).toBe(5);
    expect(await countOf(`dead_letters where kind = 'event_unreadable' and status = 'open'`)).toBe(5);
    expect(await event('bare')).toMatchObject({ state: 'held', event_type: 'unreadable' });
    expect(await event('good')).toMatchObject({ state: 'pending' });
    expect(await event('nul')).toMatchObject({ state: 'pending' });
    expect((await pass()).found).toEqual([]);
  });

  it('that PostgreSQL refuses is held with its bytes, and those beside it are found', async () => {
    gateway.list = [listedEntry('good'), listedEntry('refused')];
    const { pool } = watchedPool((sql, values) =>
      sql.includes('insert into webhook_events') && JSON.stringify(values[3]).includes('pay_refused')
        ? VALUE_REFUSED
        : null,
    );
    expect((await pass(finder({ pool }))).found.toSorted()).toEqual(['good', 'refused']);
    expect(await event('good')).toMatchObject({ state: 'pending' });
    const refused = await event('refused');
    expect(refused).toMatchObject({ state: 'held' });
    expect(Buffer.from(refused!.raw_base64!, 'base64').toString()).toContain('pay_refused');
  });

  it('of a type that means nothing here is kept as ignored, and nobody is bothered', async () => {
    gateway.list = [{ ...listedEntry('odd'), type: 'customer.created' }];
    expect((await pass()).found).toEqual([]);
    expect(await event('odd')).toMatchObject({ state: 'ignored', found_at: expect.any(String) });
    expect(warned).toEqual([]);
    expect((await runAudit(database.pool)).violations).toEqual([]);
  });

  it('of the other mode is ignored', async () => {
    gateway.list = [listedEntry('live', 10, { mode: 'live' })];
    expect((await pass()).found).toEqual([]);
    expect(await event('live')).toMatchObject({ state: 'ignored', outcome: 'live-mode event at a test source' });
  });

  it('from before this installation, or before policies.ignore_before, is left alone', async () => {
    gateway.list = [listedEntry('old', 60 * 25), listedEntry('new', 60 * 23)];
    expect((await pass()).found).toEqual(['new']);
    await database.pool.query('truncate event_listings, webhook_events, webhook_deliveries');
    const ignoreBefore = Date.now() - 60_000;
    expect((await pass(finder({ policies: { ignoreBefore } }))).found).toEqual([]);
    expect(await countOf('webhook_events')).toBe(0);
  });

  it('that is found is said in one line that tells what to check', async () => {
    gateway.list = [listedEntry('told')];
    await pass();
    expect(warned).toEqual([
      {
        fields: expect.objectContaining({
          source: 'sim',
          event_id: 'told',
          event_type: 'payment.captured',
          payment_id: 'pay_told',
        }),
        text: expect.stringContaining('check the address and the secret of the webhook at the gateway'),
      },
    ]);
  });
});

describe('a webhook that comes after its event was found', () => {
  it('is a repeat, and the first of its deliveries', async () => {
    const entry = listedEntry('after');
    gateway.list = [entry];
    await pass();
    await deliver(entry);
    expect(await event('after')).toMatchObject({ found_at: expect.any(String), deliveries: [{ differs: false }] });
    expect(await countOf('webhook_events')).toBe(1);
  });

  it('with other bytes that say the same is the first, and later ones are compared with it', async () => {
    const entry = listedEntry('spaced');
    gateway.list = [entry];
    await pass();
    const { id: _id, ...body } = entry;
    await deliver(entry, JSON.stringify(body, null, 2));
    expect(await event('spaced')).toMatchObject({ deliveries: [{ differs: false }] });
    await deliver(entry, JSON.stringify(body, null, 2));
    await deliver(entry, JSON.stringify(body, null, 3));
    const { deliveries } = (await event('spaced'))!;
    expect(deliveries.map(({ differs }) => differs)).toEqual([false, false, true]);
    await agesOfDeliveries();
    expect((await runAudit(database.pool)).violations).toEqual([]);
  });

  it('and says something else is marked so, and its payment is looked at again', async () => {
    const entry = listedEntry('other');
    gateway.list = [entry];
    await pass();
    await deliver({ ...entry, data: { ...entry.data, amount: 9_000 } });
    expect(await event('other')).toMatchObject({ deliveries: [{ differs: true }] });
    expect(await countOf('webhook_events where look_again_at is not null')).toBe(1);
    expect(await countOf('dead_letters')).toBe(0);
    await agesOfDeliveries();
    expect((await runAudit(database.pool)).violations).toEqual([]);
  });

  it('or just before it is stored leaves nothing to be found', async () => {
    const entry = listedEntry('quicker');
    await deliver(entry);
    expect(await storeFoundEvents(database.pool, [webhookOf(entry)])).toEqual([]);
    expect(await event('quicker')).toMatchObject({ found_at: null, deliveries: [{ differs: false }] });
    expect(await countOf('webhook_deliveries')).toBe(1);
  });

  it('or in the same instant is one event, and never two', async () => {
    const all = entries(20, 10, 'same');
    gateway.list = all;
    await Promise.all([pass(), pass(), ...all.map((entry) => deliver(entry))]);
    expect(await countOf('webhook_events')).toBe(20);
    expect(await countOf('webhook_deliveries where not found')).toBe(20);
    const found = await countOf('webhook_deliveries where found');
    expect(await countOf('webhook_events where found_at is not null')).toBe(found);
    expect((await runAudit(database.pool)).violations).toEqual([]);
  });
});

describe('a thousand entries that are known', () => {
  it('cost a few statements a page', async () => {
    gateway.list = entries(1_000, 30);
    await pass();
    const { pool, statements } = watchedPool();
    expect(await pass(finder({ pool }))).toMatchObject({ listed: 1_000, found: [] });
    expect(gateway.requests).toHaveLength(20);
    expect(statements.length).toBeLessThanOrEqual(3 * 10);
  });
});

describe('a process that is killed', () => {
  it('between storing a page and saving its place loses nothing, and stores nothing twice', async () => {
    gateway.list = entries(150, 90);
    const { pool } = watchedPool((sql) => (sql.includes('update event_listings') ? KILLED : null));
    await expect(pass(finder({ pool }))).rejects.toThrow('killed here');
    expect(await countOf('webhook_events')).toBe(100);
    expect(await pass()).toMatchObject({ listed: 150, found: Array.from({ length: 50 }, (_, at) => `e${100 + at}`) });
  });

  it('before it has stored a page lists it again', async () => {
    gateway.list = entries(150, 90);
    const { pool } = watchedPool((sql) => (sql.includes('insert into webhook_events') ? KILLED : null));
    await expect(pass(finder({ pool }))).rejects.toThrow('killed here');
    expect((await pass()).found).toHaveLength(150);
  });

  it('in the middle of the list goes on there', async () => {
    gateway.list = entries(250, 30);
    const findMissingWebhooks = finder();
    expect(await findMissingWebhooks('sim')).toMatchObject({ listed: 100, more: true });
    expect(await pass()).toMatchObject({ listed: 150 });
  });
});

describe('a gateway that gives no list', () => {
  it.each([
    ['answers 500', 500, { code: 'gateway_broken' }, 'sim answered 500 gateway_broken'],
    ['refuses our key', 401, {}, 'sim answered 401'],
    ['answers garbage', 200, '<html>', 'gave an answer that is not JSON'],
    ['answers something else', 200, { data: 'all' }, 'gave an answer that its protocol does not allow'],
    ['has no such list', 404, {}, 'does not know GET /events'],
  ])(
    'because it %s is told to the operator, and the next run goes on where this one stopped',
    async (_what, status, body, says) => {
      gateway.list = entries(150, 30);
      const findMissingWebhooks = finder();
      await findMissingWebhooks('sim');
      gateway.trouble = { status, body };
      const refused = await pass();
      expect(refused).toMatchObject({ listed: 0, found: [] });
      expect(refused.problem).toContain(says);
      expect(warned.at(-1)).toMatchObject({ text: 'events not listed' });
      gateway.trouble = null;
      const after = await pass();
      expect(after.listed).toBe(50);
      expect(after.found).toHaveLength(50);
      expect(await countOf('event_listings where last_error is not null')).toBe(0);
    },
  );

  it('for an hour is told to people once, and told again when it is over', async () => {
    gateway.trouble = { status: 500, body: {} };
    await pass();
    expect(await countOf('alerts')).toBe(0);
    await database.pool.query(`update event_listings set failing_since = now() - interval '61 minutes'`);
    await pass();
    await pass();
    expect(await countOf(`alerts where kind = 'events_not_listed' and key = 'listing:sim' and closed_at is null`)).toBe(
      1,
    );
    gateway.trouble = null;
    await pass();
    expect(await countOf(`alerts where outcome = 'recovered'`)).toBe(1);
    expect(await countOf('alerts')).toBe(1);
  });

  it('that does not know our place any more is listed anew from its beginning', async () => {
    gateway.list = entries(250, 90);
    await pass();
    gateway.list = entries(3, 10, 'fresh');
    expect((await pass()).found).toEqual(['fresh0', 'fresh1', 'fresh2']);
  });

  it('at all is said, and asked for nothing', async () => {
    const silent = {
      ...gateway.source.gateway,
      capabilities: { ...gateway.source.gateway.capabilities, listsEvents: null },
    };
    const find = createFindMissingWebhooks({
      ...{ pool: database.pool, metrics, wakeRelay: () => undefined, log: {} as Logger, policies: DEFAULT_POLICIES },
      sources: new Map([['sim', { gateway: silent, mode: 'test' }]]),
    });
    expect(await find('sim')).toMatchObject({
      more: false,
      problem: expect.stringContaining('shows no list of events'),
    });
    expect(gateway.requests).toEqual([]);
  });
});
