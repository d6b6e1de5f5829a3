import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DemoReport } from '../../src/cli/demo/report.ts';
import { createTestDatabase } from '../support/database.ts';
import { openCommandLine, type CommandLine } from '../support/command-line.ts';
import { openSystem, paymentEvent, type System } from '../support/system.ts';

// A storm with lost answers waits out the gateway's settle time, twice for some, and killed processes start anew.
const STORM_MS = 280_000;

let system: System;
let commands: CommandLine;
let nowhere: CommandLine;
beforeAll(async () => {
  system = await openSystem({ servers: 1 });
  const { sim } = system.gateways;
  commands = openCommandLine({
    api_url: system.servers[0]?.url,
    api_key: system.apiKey,
    database_url: system.db.url,
    simulator_url: sim?.url,
    sources: { sim: { webhook_secret: sim?.webhookSecret } },
  });
  nowhere = openCommandLine(null);
});
afterAll(async () => {
  commands.remove();
  nowhere.remove();
  await system.close();
});

const json = async (...args: string[]) => JSON.parse((await commands.run([...args, '--json'])).out);

describe('the demo', () => {
  it(
    'ends right although API and worker are killed during the storm, and shows what the naive handler did with it',
    { timeout: STORM_MS },
    async () => {
      const faults = { seed: 3, rate_limit: { chance: 0, retry_after: 1 } };
      await system.control('PUT', '/faults', faults);
      const killed: Promise<void>[] = [];
      const { exitCode, out, err } = await commands.run(['demo', '--payments', '32', '--seed', '5', '--json'], {
        onLine: () => {
          if (killed.length > 0) return;
          for (const process of [...system.servers, system.worker]) {
            killed.push(process.kill('SIGKILL').then(() => process.restart()));
          }
        },
      });
      await Promise.all(killed);
      expect(killed).toHaveLength(2);
      expect(err).toContain('Payments and refunds settle');
      const report = JSON.parse(out) as DemoReport;
      expect(report.audit.violations).toEqual([]);
      expect(report.paidonce).toEqual(report.expected);
      expect(report).toMatchObject({
        ok: true,
        seed: 5,
        expected: { ordersPaid: 30, secondPaymentsFound: 4, chargedTwice: 0 },
      });
      expect(exitCode).toBe(0);
      expect(report.storm['repeats']).toBeGreaterThan(10);
      // Two copies at once are enough for it; how many it doubles is a matter of luck.
      expect(report.naive?.enrolments).toBeGreaterThan(report.expected.enrolments);
      expect(report.naive?.chargedTwice).toBe(4);
      expect(await system.control('GET', '/faults')).toMatchObject(faults);
      expect(await system.count(`information_schema.schemata where schema_name = 'naive'`)).toBe(0);
    },
  );

  it('asks for a stack where none runs', async () => {
    const { exitCode, err, out } = await nowhere.run(['demo']);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
    expect(err).toMatch(/No stack runs here .* run npm start in this folder first\./);
  });
});

describe('paidonce audit', () => {
  it('answers 0 where every promise holds, and 1 with the violation where one is broken', async () => {
    expect(await commands.run(['audit'])).toMatchObject({
      exitCode: 0,
      out: expect.stringMatching(/^All \d+ invariants hold/),
    });
    await system.db.pool
      .query(`insert into orders (id, status, currency, amount_due, amount_paid, customer_id, created_by)
      values ('ord_wrong', 'partially_paid', 'EUR', 100, 50, 'cus_1', 'test')`);
    const { exitCode, out } = await commands.run(['audit']);
    expect(exitCode).toBe(1);
    expect(out).toContain('order_amount_paid (B2)');
    expect(out).toContain('order_id ord_wrong, amount_paid is 50, the counted payments add up to 0');
    expect(await json('audit')).toMatchObject({
      ok: false,
      violations: expect.arrayContaining([
        expect.objectContaining({ invariant: 'order_amount_paid', order_id: 'ord_wrong' }),
      ]),
    });
    await system.db.pool.query(`delete from orders where id = 'ord_wrong'`);
  });

  it('says in one sentence that the database cannot be reached, or is not migrated', async () => {
    const away = await nowhere.run(['audit', '--json'], {
      env: { DATABASE_URL: 'postgres://nobody@127.0.0.1:2/none' },
    });
    expect(away.exitCode).toBe(2);
    expect(JSON.parse(away.err)).toEqual({
      error: expect.stringMatching(/^PostgreSQL cannot be reached \(.*is npm start running/),
    });
    const empty = await createTestDatabase();
    try {
      await empty.pool.query('drop table schema_migrations');
      const { exitCode, err } = await nowhere.run(['audit'], { env: { DATABASE_URL: empty.url } });
      expect({ exitCode, err }).toEqual({
        exitCode: 2,
        err: 'The database is not up to date: run npx paidonce migrate first.\n',
      });
    } finally {
      await empty.drop();
    }
  });
});

describe('the other commands', () => {
  it('migrate twice without harm', async () => {
    expect(await json('migrate')).toEqual({ ran: [] });
    expect((await commands.run(['migrate'])).out).toMatch(/^Nothing to do/);
  });

  it('make a key that works, and rotate it with an overlap', async () => {
    const { key } = await json('keys', 'create', '--client', 'billing', '--scopes', 'orders,ops:read');
    expect((await system.call('GET', '/v1/events', { apiKey: key })).status).toBe(200);
    const again = await commands.run(['keys', 'create', '--client', 'billing', '--scopes', 'orders']);
    expect(again).toMatchObject({ exitCode: 1, err: expect.stringContaining('keys rotate --client billing') });
    const rotated = await json('keys', 'rotate', '--client', 'billing', '--overlap', '1h');
    expect(rotated).toMatchObject({ client: 'billing', scopes: ['orders', 'ops:read'] });
    for (const apiKey of [key, rotated.key])
      expect((await system.call('GET', '/v1/events', { apiKey })).status).toBe(200);
    const { key: last } = await json('keys', 'rotate', '--client', 'billing', '--overlap', '0s');
    expect((await system.call('GET', '/v1/events', { apiKey: key })).status).toBe(401);
    expect((await system.call('GET', '/v1/events', { apiKey: last })).status).toBe(200);
    expect(await commands.run(['keys', 'rotate', '--client', 'nobody'])).toMatchObject({ exitCode: 1 });
    expect(await commands.run(['keys', 'create', '--client', 'x', '--scopes', 'everything'])).toMatchObject({
      exitCode: 2,
    });
  });

  it('show and replay events, and show what waits for a person', async () => {
    await system.order({ id: 'ord_shown' });
    await system.pay('pay_shown', 'ord_shown', { currency: 'USD' });
    await system.deliver(paymentEvent('pay_shown', 'ord_shown', { currency: 'USD' }), { id: 'evt_shown' });
    await system.eventIs('evt_shown', 'held');
    const { data } = await json('events', 'list', '--payment', 'pay_shown');
    expect(data).toMatchObject([{ event_id: 'evt_shown', state: 'held' }]);
    expect((await commands.run(['events', 'list', '--limit', '3'])).out.split('\n')).toHaveLength(6);
    expect(await commands.run(['events', 'replay', 'sim', 'evt_shown'])).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining('looked at again'),
    });
    expect(await commands.run(['events', 'replay', 'sim', 'evt_nowhere'])).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('not_found'),
    });
    expect((await commands.run(['dead-letters', 'list'])).out).toMatch(
      /wrong_currency +ord_shown pay_shown evt_shown +100\.00 USD/,
    );
    expect((await json('dead-letters', 'list', '--all')).data).toEqual(
      expect.arrayContaining([expect.objectContaining({ kind: 'wrong_currency' })]),
    );
  });

  it('name the API that does not answer', async () => {
    const env = { PAIDONCE_API_URL: 'http://127.0.0.1:2', PAIDONCE_API_KEY: 'po_x' };
    const { exitCode, err } = await nowhere.run(['events', 'list'], { env });
    expect(exitCode).toBe(2);
    expect(err).toMatch(/^The API at http:\/\/127\.0\.0\.1:2 does not answer \(.*\): is npm start running\?\n$/);
  });

  it('help where they are not understood', async () => {
    expect(await nowhere.run(['--help'])).toMatchObject({ exitCode: 0, out: expect.stringContaining('demo') });
    expect(await nowhere.run(['fly'])).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('unknown command'),
    });
  });
});
