import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createFindMissingWebhooks } from '../../src/activities/find-missing-webhooks.ts';
import { readEvent } from '../../src/database/read-event.ts';
import { DEFAULT_POLICIES, type Policies } from '../../src/domain/policies.ts';
import type { Logger } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  listedEntries as entries,
  listedEntry,
  startListingGateway,
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
  gateway.answerTo = null;
  gateway.trouble = null;
  gateway.requests.length = 0;
});
afterEach(() =>
  database.pool.query(
    'truncate event_listings, webhook_events, webhook_deliveries, processed_events, dead_letters, alerts cascade',
  ),
);

const metrics = createMetrics();

function finder(policies: Partial<Policies> = {}) {
  return createFindMissingWebhooks({
    ...{ pool: database.pool, metrics, wakeRelay: () => undefined },
    sources: new Map([['sim', gateway.source]]),
    policies: { ...DEFAULT_POLICIES, ...policies },
    log: { warn: () => undefined } as unknown as Logger,
  });
}

const pass = (policies: Partial<Policies> = {}) => wholePass(finder(policies));
const countOf = async (from: string) =>
  Number((await database.pool.query<{ n: bigint }>(`select count(*) as n from ${from}`)).rows[0]?.n);

describe('a gateway', () => {
  it('that refuses each of its own cursors is told to the operator, and after an hour to people', async () => {
    gateway.list = entries(150, 90);
    gateway.answerTo = () => ({ status: 400, body: {} });
    const refused = await pass();
    expect(refused.problem).toContain('sim answered 400');
    expect(gateway.requests.length).toBeLessThanOrEqual(8);
    expect((await pass()).problem).toContain('sim answered 400');
    await database.pool.query(
      `update event_listings set failing_since = now() - interval '61 minutes', restarted_at = now() - interval '61 minutes'`,
    );
    gateway.list.unshift(listedEntry('fresh'));
    const later = await pass();
    expect(later).toMatchObject({ found: ['fresh'], problem: expect.stringContaining('sim answered 400') });
    expect(await countOf(`alerts where kind = 'events_not_listed' and closed_at is null`)).toBe(1);
    gateway.answerTo = null;
    expect((await pass()).problem).toBeNull();
    expect(await countOf(`alerts where outcome = 'recovered'`)).toBe(1);
    expect(await countOf('event_listings where restarts > 0')).toBe(0);
  });

  it.each([2, 3, 7])(
    'whose pages lead round in a circle of %i is left, and told to people after an hour',
    async (n) => {
      gateway.list = entries(101, 30);
      let pages = 0;
      gateway.answerTo = () => {
        pages += 1;
        return { status: 200, body: { data: [listedEntry(`c${pages % n}`, 30)], next: `c${pages % n}` } };
      };
      const circled = await pass();
      expect(circled.problem).toContain('goes round in a circle');
      expect(pages).toBeLessThanOrEqual(4 * n + 4);
      await database.pool.query(`update event_listings set failing_since = now() - interval '61 minutes'`);
      gateway.list.unshift(listedEntry('fresh'));
      expect((await pass()).found).toEqual(['fresh']);
      expect(await countOf(`alerts where kind = 'events_not_listed' and closed_at is null`)).toBe(1);
      gateway.answerTo = null;
      expect((await pass()).problem).toBeNull();
      expect(await countOf(`alerts where outcome = 'recovered'`)).toBe(1);
    },
  );

  it('that has an end is told to people where it has none for hours', async () => {
    gateway.list = entries(350, 30);
    const find = finder();
    await find('sim');
    await database.pool.query(`update event_listings set began_at = now() - interval '7 hours'`);
    await find('sim');
    expect(await countOf(`alerts where kind = 'events_not_listed' and closed_at is null`)).toBe(1);
    await pass();
    expect(await countOf(`alerts where outcome = 'recovered'`)).toBe(1);
    expect(await countOf('event_listings where began_at is not null')).toBe(0);
  });

  it.each([
    ['NUL', 'a\u0000b'],
    ['half a character', 'a\ud800'],
  ])('whose cursor holds %s is told to the operator: it cannot be kept', async (_what, next) => {
    gateway.trouble = { status: 200, body: { data: [listedEntry('beside')], next } };
    expect((await pass()).problem).toContain('gave an answer that its protocol does not allow');
    expect(await countOf('event_listings where failing_since is not null')).toBe(1);
  });
});

describe('an entry of the list', () => {
  it.each([101, 600, 5_000, 200_000])(
    'that is nested %i deep is held, and those beside it are found',
    async (levels) => {
      const mark = '"]['; // brackets within a text are none
      const [deep, good, after] = [listedEntry('deep'), listedEntry('good', 10, { mark }), listedEntry('after')];
      const nested = JSON.stringify(deep).replace(
        '"data":{',
        `"data":{"x":${'[{"a":'.repeat(levels / 2)}9${'}]'.repeat(levels / 2)},`,
      );
      gateway.trouble = { status: 200, body: `{"data":[${JSON.stringify(good)},${nested},${JSON.stringify(after)}]}` };
      expect(await pass()).toMatchObject({ found: ['good', 'deep', 'after'], problem: null });
      const event = (id: string) => readEvent(database.pool, 'sim', id);
      expect(await event('deep')).toMatchObject({ state: 'held' });
      expect(await event('good')).toMatchObject({ state: 'pending' });
      expect(await event('after')).toMatchObject({ state: 'pending' });
      expect(await countOf(`dead_letters where kind = 'event_unreadable' and status = 'open'`)).toBe(1);
    },
  );

  it.each([4, 6, 20])(
    'that is stamped %i minutes ahead is found, however long webhooks are waited for',
    async (ahead) => {
      gateway.list = [listedEntry('ahead', -ahead), ...entries(150, 90)];
      const patient = { missingWebhookAfterMs: 30 * 60_000 };
      const { found } = await pass(patient);
      gateway.list[0] = listedEntry('ahead', 31);
      expect([...found, ...(await pass(patient)).found]).toContain('ahead');
      expect(await readEvent(database.pool, 'sim', 'ahead')).not.toBeNull();
    },
  );
});
