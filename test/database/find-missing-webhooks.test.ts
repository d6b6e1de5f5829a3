import { createHash } from 'node:crypto';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { runAudit } from '../../src/database/audit.ts';
import type { Delivery } from '../../src/database/delivery-statement.ts';
import { storeDelivery } from '../../src/database/store-delivery.ts';
import { storeFoundEvents } from '../../src/database/store-found-events.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import { admitted } from '../../src/gateways/admitted.ts';
import { listedEntries, listedEntry, type ListedEntry } from '../support/listing-gateway.ts';
import { useListingLab } from '../support/listing-lab.ts';

const lab = useListingLab();
const { countOf, event, finder, pass } = lab;

/** Its webhook, as the API takes it. */
function webhookOf({ id, ...body }: ListedEntry, bytes = JSON.stringify(body)): Delivery {
  const buffer = Buffer.from(bytes);
  const headers = { 'webhook-id': id };
  const bodySha256 = createHash('sha256').update(buffer).digest();
  return {
    ...admitted(DEFAULT_POLICIES, lab.gateway.source, buffer, headers, bodySha256),
    ...{ source: 'sim', body: buffer, bodySha256, headers: JSON.stringify(headers), remoteAddress: null },
  };
}

const deliver = (entry: ListedEntry, bytes?: string) => storeDelivery(lab.pool, webhookOf(entry, bytes));

/** The audit gives two copies that race a minute. */
const agesOfDeliveries = () =>
  lab.pool.query(`update webhook_deliveries set received_at = received_at - interval '2 minutes'`);

const KILLED = new Error('killed here');
const VALUE_REFUSED = Object.assign(new pg.DatabaseError('out of range', 0, 'error'), { code: '22003' });

/** A pool whose statements are counted, and of which some fail. */
function watchedPool(fails: (sql: string, values: readonly unknown[]) => Error | null = () => null): {
  readonly pool: pg.Pool;
  readonly statements: string[];
} {
  const statements: string[] = [];
  const pool = new Proxy(lab.pool, {
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
    lab.gateway.list = [listedEntry('young', 1)];
    expect(await pass()).toMatchObject({ listed: 1, found: [], left: 1 });
    expect(await event('young')).toBeNull();
    expect(await pass(finder({ policies: { missingWebhookAfterMs: 30_000 } }))).toMatchObject({
      found: ['young'],
      left: 0,
    });
  });

  it('that appears late, behind what was listed already, is found', async () => {
    const before = listedEntries(150, 30);
    lab.gateway.list = before;
    expect((await pass()).found).toHaveLength(150);
    lab.gateway.list = [...before.slice(0, 20), listedEntry('late', 30), ...before.slice(20)];
    expect((await pass()).found).toEqual(['late']);
  });

  it('that appears late among young ones is found, although older ones follow', async () => {
    const [young, old] = [listedEntries(100, 30, 'young'), listedEntries(150, 90, 'old')];
    lab.gateway.list = [...young, ...old];
    await pass();
    lab.gateway.list = [...young.slice(0, 20), listedEntry('late', 30), ...young.slice(20), ...old];
    expect((await pass()).found).toEqual(['late']);
  });

  it('that is an hour older than all that may appear is not listed again', async () => {
    lab.gateway.list = [...listedEntries(500, 90), ...listedEntries(50, 30, 'new')];
    expect((await pass()).listed).toBe(550);
    expect(await pass()).toMatchObject({ listed: 50, found: [] });
  });

  it('that claims a time in the future is found all the same, and holds up nothing', async () => {
    lab.gateway.list = [listedEntry('tomorrow', -60 * 24), ...listedEntries(150, 90)];
    expect((await pass()).found).toHaveLength(151);
    expect((await pass()).listed).toBe(51);
  });

  it('that cannot be read is held and put before a person, and those beside it are found', async () => {
    lab.gateway.list = [
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
    lab.gateway.list = [listedEntry('good'), listedEntry('refused')];
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
    lab.gateway.list = [{ ...listedEntry('odd'), type: 'customer.created' }];
    expect((await pass()).found).toEqual([]);
    expect(await event('odd')).toMatchObject({ state: 'ignored', found_at: expect.any(String) });
    expect(lab.warned).toEqual([]);
    expect((await runAudit(lab.pool)).violations).toEqual([]);
  });

  it('of the other mode is ignored', async () => {
    lab.gateway.list = [listedEntry('live', 10, { mode: 'live' })];
    expect((await pass()).found).toEqual([]);
    expect(await event('live')).toMatchObject({ state: 'ignored', outcome: 'live-mode event at a test source' });
  });

  it('from before this installation, or before policies.ignore_before, is left alone', async () => {
    lab.gateway.list = [listedEntry('old', 60 * 25), listedEntry('new', 60 * 23)];
    expect((await pass()).found).toEqual(['new']);
    await lab.pool.query('truncate event_listings, webhook_events, webhook_deliveries');
    const ignoreBefore = Date.now() - 60_000;
    expect((await pass(finder({ policies: { ignoreBefore } }))).found).toEqual([]);
    expect(await countOf('webhook_events')).toBe(0);
  });

  it('that is found is said in one line that tells what to check', async () => {
    lab.gateway.list = [listedEntry('told')];
    await pass();
    expect(lab.warned).toEqual([
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
    lab.gateway.list = [entry];
    await pass();
    await deliver(entry);
    expect(await event('after')).toMatchObject({ found_at: expect.any(String), deliveries: [{ differs: false }] });
    expect(await countOf('webhook_events')).toBe(1);
  });

  it('with other bytes that say the same is the first, and later ones are compared with it', async () => {
    const entry = listedEntry('spaced');
    lab.gateway.list = [entry];
    await pass();
    const { id: _id, ...body } = entry;
    await deliver(entry, JSON.stringify(body, null, 2));
    expect(await event('spaced')).toMatchObject({ deliveries: [{ differs: false }] });
    await deliver(entry, JSON.stringify(body, null, 2));
    await deliver(entry, JSON.stringify(body, null, 3));
    const { deliveries } = (await event('spaced'))!;
    expect(deliveries.map(({ differs }) => differs)).toEqual([false, false, true]);
    await agesOfDeliveries();
    expect((await runAudit(lab.pool)).violations).toEqual([]);
  });

  it('and says something else is marked so, and its payment is looked at again', async () => {
    const entry = listedEntry('other');
    lab.gateway.list = [entry];
    await pass();
    await deliver({ ...entry, data: { ...entry.data, amount: 9_000 } });
    expect(await event('other')).toMatchObject({ deliveries: [{ differs: true }] });
    expect(await countOf('webhook_events where look_again_at is not null')).toBe(1);
    expect(await countOf('dead_letters')).toBe(0);
    await agesOfDeliveries();
    expect((await runAudit(lab.pool)).violations).toEqual([]);
  });

  it('or just before it is stored leaves nothing to be found', async () => {
    const entry = listedEntry('quicker');
    await deliver(entry);
    expect(await storeFoundEvents(lab.pool, [webhookOf(entry)])).toEqual([]);
    expect(await event('quicker')).toMatchObject({ found_at: null, deliveries: [{ differs: false }] });
    expect(await countOf('webhook_deliveries')).toBe(1);
  });

  it('or in the same instant is one event, and never two', async () => {
    const all = listedEntries(20, 10, 'same');
    lab.gateway.list = all;
    await Promise.all([pass(), pass(), ...all.map((entry) => deliver(entry))]);
    expect(await countOf('webhook_events')).toBe(20);
    expect(await countOf('webhook_deliveries where not found')).toBe(20);
    const found = await countOf('webhook_deliveries where found');
    expect(await countOf('webhook_events where found_at is not null')).toBe(found);
    expect((await runAudit(lab.pool)).violations).toEqual([]);
  });
});

describe('a thousand entries that are known', () => {
  it('cost a few statements a page', async () => {
    lab.gateway.list = listedEntries(1_000, 30);
    await pass();
    const { pool, statements } = watchedPool();
    expect(await pass(finder({ pool }))).toMatchObject({ listed: 1_000, found: [] });
    expect(lab.gateway.requests).toHaveLength(20);
    expect(statements.length).toBeLessThanOrEqual(3 * 10);
  });
});

describe('a process that is killed', () => {
  it('between storing a page and saving its place loses nothing, and stores nothing twice', async () => {
    lab.gateway.list = listedEntries(150, 90);
    const { pool } = watchedPool((sql) => (sql.includes('update event_listings') ? KILLED : null));
    await expect(pass(finder({ pool }))).rejects.toThrow('killed here');
    expect(await countOf('webhook_events')).toBe(100);
    expect(await pass()).toMatchObject({ listed: 150, found: Array.from({ length: 50 }, (_, at) => `e${100 + at}`) });
  });

  it('before it has stored a page lists it again', async () => {
    lab.gateway.list = listedEntries(150, 90);
    const { pool } = watchedPool((sql) => (sql.includes('insert into webhook_events') ? KILLED : null));
    await expect(pass(finder({ pool }))).rejects.toThrow('killed here');
    expect((await pass()).found).toHaveLength(150);
  });

  it('in the middle of the list goes on there', async () => {
    lab.gateway.list = listedEntries(250, 30);
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
      lab.gateway.list = listedEntries(150, 30);
      const findMissingWebhooks = finder();
      await findMissingWebhooks('sim');
      lab.gateway.trouble = { status, body };
      const refused = await pass();
      expect(refused).toMatchObject({ listed: 0, found: [] });
      expect(refused.problem).toContain(says);
      expect(lab.warned.at(-1)).toMatchObject({ text: 'events not listed' });
      lab.gateway.trouble = null;
      const after = await pass();
      expect(after.listed).toBe(50);
      expect(after.found).toHaveLength(50);
      expect(await countOf('event_listings where last_error is not null')).toBe(0);
    },
  );

  it('for an hour is told to people once, and told again when it is over', async () => {
    lab.gateway.trouble = { status: 500, body: {} };
    await pass();
    expect(await countOf('alerts')).toBe(0);
    await lab.pool.query(`update event_listings set failing_since = now() - interval '61 minutes'`);
    await pass();
    await pass();
    expect(await countOf(`alerts where kind = 'events_not_listed' and key = 'listing:sim' and closed_at is null`)).toBe(
      1,
    );
    lab.gateway.trouble = null;
    await pass();
    expect(await countOf(`alerts where outcome = 'recovered'`)).toBe(1);
    expect(await countOf('alerts')).toBe(1);
  });

  it('that does not know our place any more is listed anew from its beginning', async () => {
    lab.gateway.list = listedEntries(250, 90);
    await pass();
    lab.gateway.list = listedEntries(3, 10, 'fresh');
    expect((await pass()).found).toEqual(['fresh0', 'fresh1', 'fresh2']);
  });

  it('at all is said, and asked for nothing', async () => {
    const silent = {
      ...lab.gateway.source.gateway,
      capabilities: { ...lab.gateway.source.gateway.capabilities, listsEvents: null },
    };
    expect(await finder({ source: { gateway: silent, mode: 'test' } })('sim')).toMatchObject({
      more: false,
      problem: expect.stringContaining('shows no list of events'),
    });
    expect(lab.gateway.requests).toEqual([]);
  });
});
