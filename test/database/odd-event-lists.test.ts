import { describe, expect, it } from 'vitest';
import { listedEntries, listedEntry } from '../support/listing-gateway.ts';
import { useListingLab } from '../support/listing-lab.ts';

const lab = useListingLab();
const { countOf, event, finder, pass } = lab;

describe('a gateway', () => {
  it('that refuses each of its own cursors is told to the operator, and after an hour to people', async () => {
    lab.gateway.list = listedEntries(150, 90);
    lab.gateway.answerTo = () => ({ status: 400, body: {} });
    const refused = await pass();
    expect(refused.problem).toContain('sim answered 400');
    expect(lab.gateway.requests.length).toBeLessThanOrEqual(8);
    expect((await pass()).problem).toContain('sim answered 400');
    await lab.pool.query(
      `update event_listings set failing_since = now() - interval '61 minutes', restarted_at = now() - interval '61 minutes'`,
    );
    lab.gateway.list.unshift(listedEntry('fresh'));
    const later = await pass();
    expect(later).toMatchObject({ found: ['fresh'], problem: expect.stringContaining('sim answered 400') });
    expect(await countOf(`alerts where kind = 'events_not_listed' and closed_at is null`)).toBe(1);
    lab.gateway.answerTo = null;
    expect((await pass()).problem).toBeNull();
    expect(await countOf(`alerts where outcome = 'recovered'`)).toBe(1);
    expect(await countOf('event_listings where restarts > 0')).toBe(0);
  });

  it.each([2, 3, 7])(
    'whose pages lead round in a circle of %i is left, and told to people after an hour',
    async (n) => {
      lab.gateway.list = listedEntries(101, 30);
      let pages = 0;
      lab.gateway.answerTo = () => {
        pages += 1;
        return { status: 200, body: { data: [listedEntry(`c${pages % n}`, 30)], next: `c${pages % n}` } };
      };
      const circled = await pass();
      expect(circled.problem).toContain('goes round in a circle');
      expect(pages).toBeLessThanOrEqual(4 * n + 4);
      await lab.pool.query(`update event_listings set failing_since = now() - interval '61 minutes'`);
      lab.gateway.list.unshift(listedEntry('fresh'));
      expect((await pass()).found).toEqual(['fresh']);
      expect(await countOf(`alerts where kind = 'events_not_listed' and closed_at is null`)).toBe(1);
      lab.gateway.answerTo = null;
      expect((await pass()).problem).toBeNull();
      expect(await countOf(`alerts where outcome = 'recovered'`)).toBe(1);
    },
  );

  it('that has an end is told to people where it has none for hours', async () => {
    lab.gateway.list = listedEntries(350, 30);
    const find = finder();
    await find('sim');
    await lab.pool.query(`update event_listings set began_at = now() - interval '7 hours'`);
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
    lab.gateway.trouble = { status: 200, body: { data: [listedEntry('beside')], next } };
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
      lab.gateway.trouble = {
        status: 200,
        body: `{"data":[${JSON.stringify(good)},${nested},${JSON.stringify(after)}]}`,
      };
      expect(await pass()).toMatchObject({ found: ['good', 'deep', 'after'], problem: null });
      expect(await event('deep')).toMatchObject({ state: 'held' });
      expect(await event('good')).toMatchObject({ state: 'pending' });
      expect(await event('after')).toMatchObject({ state: 'pending' });
      expect(await countOf(`dead_letters where kind = 'event_unreadable' and status = 'open'`)).toBe(1);
    },
  );

  it.each([4, 6, 20])(
    'that is stamped %i minutes ahead is found, however long webhooks are waited for',
    async (ahead) => {
      lab.gateway.list = [listedEntry('ahead', -ahead), ...listedEntries(150, 90)];
      const patient = { policies: { missingWebhookAfterMs: 30 * 60_000 } };
      const { found } = await pass(finder(patient));
      lab.gateway.list[0] = listedEntry('ahead', 31);
      expect([...found, ...(await pass(finder(patient))).found]).toContain('ahead');
      expect(await event('ahead')).not.toBeNull();
    },
  );
});
