import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCommandLine, type CommandLine } from '../support/command-line.ts';
import { dumpEffects } from '../support/effects.ts';
import { eventually } from '../support/eventually.ts';
import { liveEveryFate } from '../support/every-fate.ts';
import { openSystem, paymentEvent, type System } from '../support/system.ts';

let system: System;
let commands: CommandLine;
let before: Record<string, string[]>;
beforeAll(async () => {
  system = await openSystem();
  const { sim } = system.gateways;
  commands = openCommandLine({
    ...{ api_url: system.servers[0]?.url, api_key: system.apiKey, database_url: system.db.url },
    ...{ simulator_url: sim?.url, sources: { sim: { webhook_secret: sim?.webhookSecret } } },
  });
  await Promise.all([liveEveryFate(system), moveOtherMoney()]);
  await system.settled();
  before = await dumpEffects(system.db.pool);
}, 120_000);
afterAll(async () => {
  commands.remove();
  await system.close();
});

const json = async (...args: string[]) => JSON.parse((await commands.run([...args, '--json'])).out);

/** A payout, a charge and two top-ups. */
async function moveOtherMoney(): Promise<void> {
  const card = { source: 'sim', customer_id: 'cus_1', payment_method: 'pm_1', amount: 10_000, currency: 'EUR' };
  await system.order({ id: 'charged' });
  const payout = { seller_id: 's1', settlement_date: '2026-11-30', destination: 'acct_1' };
  const { customer_id: _customer, payment_method: _card, ...money } = card;
  const asked = await Promise.all([
    system.call('POST', '/v1/payouts', { key: 'po', body: { ...money, ...payout } }),
    system.call('POST', '/v1/charges', { key: 'ch', body: { ...card, order_id: 'charged' } }),
    ...['a', 'b'].map((key) => system.call('POST', '/v1/wallets/wal_1/top-ups', { key, body: card })),
  ]);
  expect(asked.map(({ status }) => Math.floor(status / 100))).toEqual([2, 2, 2, 2]);
  await eventually('all of it is through', async () => {
    const open = await system.count(
      `(select status from payouts union all select status from charges union all select status from top_ups) as m where status <> 'succeeded'`,
    );
    return open === 0;
  });
}

/** What became of each event; when it was handed over, and how often it was looked at, may change. */
const fates = async () =>
  (
    await system.db.pool.query(
      `select source, event_id, state, outcome, processed_at, payment_id, order_id from webhook_events order by 1, 2`,
    )
  ).rows;

async function expectNothingChanged(): Promise<void> {
  await system.settled();
  expect(await dumpEffects(system.db.pool)).toEqual(before);
  await system.expectCleanAudit();
}

describe('a replay', () => {
  it('of everything that was ever received leaves every effect as it was, byte for byte', async () => {
    for (const table of ['refunds', 'payouts', 'charges', 'wallet_entries', 'gift_cards', 'dead_letters', 'outbox'])
      expect(before[table]?.length, table).toBeGreaterThan(0);
    const events = await fates();
    const gateway = await atGateway();
    const { exitCode, out, err } = await commands.run(['events', 'replay', '--all', '--yes']);
    const known = events.filter(({ state }) => state !== 'ignored').length;
    expect({ exitCode, out }).toEqual({ exitCode: 0, out: `${known} events are looked at again.\n` });
    expect(err).toContain(`${known}/${known}`);
    await expectNothingChanged();
    expect(await fates()).toEqual(events);
    expect(await atGateway()).toEqual(gateway);
    const { rows } = await system.db.pool.query(
      `select event_id from webhook_events where handed_over_at < processed_at and state = 'processed' and payment_id is not null`,
    );
    // Each of them was looked at anew.
    expect(rows).toEqual([]);
  });

  it('of the ignored ones, which is done only when they are asked for, leaves them ignored', async () => {
    const events = await fates();
    expect(await json('events', 'replay', '--state', 'ignored', '--yes')).toEqual({ count: 1, replayed: 1 });
    await expectNothingChanged();
    expect(await fates()).toEqual(events);
  });

  it('is counted first, and not done before somebody agrees', async () => {
    const looked = await lookedAt();
    expect(await commands.run(['events', 'replay', '--payment', 'sim:pay_paid_one', '--dry-run'])).toMatchObject({
      exitCode: 0,
      out: '2 events match.\n',
    });
    expect(await commands.run(['events', 'replay', '--payment', 'sim:pay_paid_one'])).toMatchObject({
      exitCode: 1,
      out: '',
      err: '2 events match. Nothing is done: say --yes to look at them again.\n',
    });
    expect(await lookedAt()).toEqual(looked);
    expect(await json('events', 'replay', '--payment', 'sim:pay_paid_one', '--yes')).toEqual({ count: 2, replayed: 2 });
    await system.settled();
    const again = await lookedAt();
    const changed = again
      .filter((one, at) => String(one.at) !== String(looked[at]?.at))
      .map(({ event_id }) => event_id);
    expect(changed).toEqual(['evt_pay_paid_one', 'evt_pay_paid_one_again']);
    await expectNothingChanged();
  });

  it('of a time takes what came in it, and no more', async () => {
    await system.deliver(paymentEvent('pay_x', null, { type: 'customer.created' }), { id: 'evt_between' });
    const { at } = (await system.row(`select received_at as at from webhook_events where event_id = 'evt_between'`))!;
    const from = (at as Date).toISOString();
    const to = new Date((at as Date).getTime() + 1).toISOString();
    const period = ['--from', from, '--to', to, '--dry-run'];
    expect(await json('events', 'replay', ...period, '--state', 'ignored')).toEqual({ count: 1, replayed: 0 });
    expect(await json('events', 'replay', ...period, '--source', 'sim')).toEqual({ count: 0, replayed: 0 });
    expect(await json('events', 'replay', '--type', 'refund.succeeded', '--to', from, '--dry-run')).toMatchObject({
      count: await system.count(`webhook_events where event_type = 'refund.succeeded'`),
    });
  });

  it('asks which events are meant, and says what it does not understand', async () => {
    expect(await commands.run(['events', 'replay', '--yes'])).toMatchObject({
      exitCode: 2,
      err: expect.stringMatching(/^Say which: .* or --all/),
    });
    expect(await commands.run(['events', 'replay', 'sim'])).toMatchObject({ exitCode: 2 });
    expect(await commands.run(['events', 'replay', '--payment', 'pay_1'])).toMatchObject({ exitCode: 2 });
    expect(await commands.run(['events', 'replay', '--from', 'yesterday'])).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('filter.from must be a moment'),
    });
    const body = { filter: { soruce: 'sim' } };
    expect((await system.call('POST', '/v1/events/replay', { body })).status).toBe(422);
  });
});

async function lookedAt(): Promise<{ event_id: string; at: Date }[]> {
  const { rows } = await system.db.pool.query<{ event_id: string; at: Date }>(
    `select event_id, handed_over_at as at from webhook_events order by event_id`,
  );
  return rows;
}

async function atGateway(): Promise<unknown> {
  const { payments, refunds, payouts } = await system.control('GET', '/state');
  return { payments, refunds, payouts };
}
