import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openCommandLine, type CommandLine } from '../support/command-line.ts';
import { dumpEffects } from '../support/effects.ts';
import { eventually } from '../support/eventually.ts';
import { liveEveryFate } from '../support/every-fate.ts';
import { openSystem, paymentEvent, type System } from '../support/system.ts';

// Each command is a process of its own, which takes seconds to start on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

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

describe('an import of orders', () => {
  const folder = mkdtempSync(join(tmpdir(), 'paidonce-import-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const HEAD = 'id,currency,amount,customer_id,customer_email,customer_name,source,payment_id,paid_at,amount_refunded';
  function file(name: string, ...lines: string[]): string {
    const path = join(folder, name);
    writeFileSync(path, [HEAD, ...lines].join('\n'));
    return path;
  }
  const line = (n: number, more: Record<string, string> = {}) => {
    const fields: Record<string, string> = {
      ...{ id: `old_${n}`, currency: 'EUR', amount: '10000', customer_id: `cus_${n}`, customer_email: '' },
      ...{
        customer_name: '"Someone, Some"',
        source: 'sim',
        payment_id: `pay_old_${n}`,
        paid_at: '2025-03-01T12:00:00Z',
      },
      ...{ amount_refunded: '', ...more },
    };
    return HEAD.split(',')
      .map((name) => fields[name])
      .join(',');
  };
  const importing = (path: string, ...more: string[]) => commands.run(['import', 'orders', '--file', path, ...more]);

  it('names all mistakes of the file at once, those too that only the API sees, and writes nothing', async () => {
    const mistaken = file('mistaken.csv', line(1, { amount: '1.5' }), line(1), line(2, { paid_at: 'last spring' }));
    const { exitCode, out, err } = await importing(mistaken);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
    expect(err).toContain('Nothing was sent: the file has 4 mistakes.');
    expect(err).toContain('line 2: amount must be a whole number');
    expect(err).toContain('line 3: id is that of line 2');
    expect(err).toContain('line 3: payment_id is that of line 2');
    expect(err).toContain('line 4: paid_at must be a moment');
    const elsewhere = await importing(file('elsewhere.csv', line(1), line(2, { source: 'nowhere' })));
    expect(elsewhere.exitCode).toBe(2);
    expect(elsewhere.err).toContain('line 3: source is not the name of a configured source');
    expect(await system.count(`orders where id like 'old_%'`)).toBe(0);
  });

  it('writes what is new, changes nothing the second time, and refuses what contradicts, by its line', async () => {
    const path = file('orders.csv', ...Array.from({ length: 130 }, (_, n) => line(n)));
    expect((await importing(path, '--dry-run')).out).toBe(
      '130 orders would be imported, 0 were there already, 0 refused.\n',
    );
    expect(await system.count(`orders where id like 'old_%'`)).toBe(0);
    const announced = await system.count('outbox');
    const first = await importing(path);
    expect(first).toMatchObject({ exitCode: 0, out: '130 orders imported, 0 were there already, 0 refused.\n' });
    expect(first.err).toContain('Orders imported 130/130');
    const effects = await dumpEffects(system.db.pool);
    expect((await importing(path)).out).toBe('0 orders imported, 130 were there already, 0 refused.\n');
    expect(await dumpEffects(system.db.pool)).toEqual(effects);
    expect(await system.count('outbox')).toBe(announced);
    const other = file('other.csv', line(7, { amount: '9000' }), line(500), line(501, { id: 'paid' }));
    const { exitCode, out } = await importing(other, '--json');
    expect(exitCode).toBe(1);
    expect(JSON.parse(out)).toEqual({
      ...{ dry_run: false, imported: 1, unchanged: 0 },
      refused: [
        { place: 'line 2', id: 'old_7', reason: 'It was imported before with another amount.' },
        { place: 'line 4', id: 'paid', reason: 'This order was made here, and is paid.' },
      ],
    });
    await system.expectCleanAudit();
  });

  it('takes an order whose old webhooks then come, and whose money is given back, once', async () => {
    await system.pay('pay_old_3', 'old_3');
    await system.deliver(paymentEvent('pay_old_3', 'old_3'), { id: 'evt_old_3' });
    expect(await system.eventIs('evt_old_3', 'processed')).toMatchObject({ outcome: 'already_paid_same_payment' });
    const asked = { source: 'sim', payment_id: 'pay_old_3', amount: 4_000 };
    expect((await system.call('POST', '/v1/refunds', { key: 'refund_old', body: asked })).status).toBe(201);
    await system.orderIs('old_3', { status: 'paid', amount_refunded: 4_000 });
    await system.settled();
    expect(await system.count(`loyalty_entries where order_id like 'old_%'`)).toBe(0);
    expect(await system.count(`invoices where order_id like 'old_%'`)).toBe(0);
    await system.expectCleanAudit();
  });
});

describe('paidonce reconcile', () => {
  it('starts what is gone, and prints what it started', async () => {
    const runId = 'payment:sim:pay_early_one';
    await system.temporal.client.workflow.getHandle(runId).terminate('by hand');
    await system.db.pool.query(
      `update webhook_events set received_at = now() - interval '2 minutes' where payment_id = 'pay_early_one'`,
    );
    const { exitCode, out } = await commands.run(['reconcile']);
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^sim: \d+ not over, \d+ started again\.\n/);
    expect(out).toContain(`  ${runId}\n`);
    expect(await json('reconcile', '--source', 'sim')).toMatchObject({
      data: [{ source: 'sim', workflow_id: 'reconcile:sim', status: 'completed', restarted: 0, examples: [] }],
    });
    expect(await commands.run(['reconcile', '--source', 'nowhere'])).toMatchObject({ exitCode: 1 });
    await system.order({ id: 'early' });
    await system.orderIs('early', { status: 'paid' });
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
