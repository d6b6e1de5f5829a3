import { type ChildProcess, execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { payout as payoutSchema } from '../../src/api/schemas/money.ts';
import { eventually } from '../support/eventually.ts';
import { type MoneySystem, openMoneySystem } from '../support/money-system.ts';
import { control } from '../support/simulator.ts';

let system: MoneySystem;
beforeAll(async () => {
  system = await openMoneySystem();
});
afterAll(() => system.close());
afterEach(() => system.faults({}));

const DAY = '2026-11-30';
const fields = { source: 'sim', settlement_date: DAY, amount: 9_000, currency: 'EUR', destination: 'acct_1' };
const pay = (key: string, seller_id: string, over: object = {}) =>
  system.post('/v1/payouts', { key, body: { ...fields, seller_id, ...over } });

async function payoutsAtGateway(seller: string) {
  return (await system.atGateway()).payouts.filter((one) => one['seller_id'] === seller);
}

describe('a payout', () => {
  it('is made at the gateway, answered as documented, and shown the same afterwards', async () => {
    const made = await pay('whole', 'seller:1');
    expect(made.status).toBe(201);
    expect(payoutSchema.safeParse(made.body).error).toBeUndefined();
    expect(made.body).toMatchObject({
      ...{ id: `test:seller%3A1:${DAY}`, workflow_id: `payout:test:seller%3A1:${DAY}`, mode: 'test' },
      ...{ status: 'succeeded', amount: 9_000, currency: 'EUR', seller_id: 'seller:1', settlement_date: DAY },
    });
    const location = made.headers.get('location') ?? '';
    expect((await system.get(location)).text).toBe(made.text);
    expect(await payoutsAtGateway('seller:1')).toMatchObject([
      { payout_id: made.body.gateway_payout_id, reference: made.body.workflow_id, amount: 9_000 },
    ]);
  });

  it('of the same seller and day under another key is refused, and the first one named', async () => {
    const first = await pay('first', 'seller-2');
    for (const over of [{}, { amount: 1 }]) {
      const second = await pay('second', 'seller-2', over);
      expect(second).toMatchObject({ status: 409, body: { code: 'payout_exists' } });
      expect(second.body.detail).toContain(first.body.id);
      expect((await system.get(second.headers.get('location') ?? '')).body.id).toBe(first.body.id);
    }
    expect((await pay('second', 'seller-2', { settlement_date: '2026-12-01' })).status).toBe(201);
    expect(await payoutsAtGateway('seller-2')).toHaveLength(2);
  });

  it('is one when ten ask at once under keys of their own', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => pay(`ten-${n}`, 'seller-10')));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, ...Array<number>(9).fill(409)]);
    expect(await payoutsAtGateway('seller-10')).toHaveLength(1);
  });

  it('that takes days is pending until the gateway says that it arrived', async () => {
    await system.faults({ pending: { chance: 1, calls: ['payouts.writes'], complete_ms: null } });
    const made = await pay('days', 'seller-days');
    expect(made).toMatchObject({ status: 201, body: { status: 'pending' } });
    expect(made.body.gateway_payout_id).toEqual(expect.any(String));
    await control(system.sim, 'POST', `/payouts/${made.body.gateway_payout_id}/pay`);
    await system.shows(made.headers.get('location') ?? '', { status: 'succeeded' });
  });

  it('whose answer is lost is one payout', async () => {
    await system.faults({ lose_answer: { chance: 1, calls: ['payouts.writes'], next: 1 }, forget_keys: 1 });
    const made = await pay('lost', 'seller-lost');
    await system.shows(made.headers.get('location') ?? '', { status: 'succeeded' }, 40_000);
    expect(await payoutsAtGateway('seller-lost')).toHaveLength(1);
  }, 60_000);

  it('that the gateway rejects waits for a person', async () => {
    await system.faults({
      refuse: { chance: 1, calls: ['payouts.writes'], status: 402, code: 'insufficient_balance' },
    });
    const made = await pay('broke', 'seller-broke');
    expect(made).toMatchObject({ status: 202, body: { status: 'needs_review', failure_code: 'insufficient_balance' } });
    expect(await system.count(`dead_letters where kind = 'payout_failed' and payout_id = $1`, made.body.id)).toBe(1);
  });

  it('is refused with every mistake at once', async () => {
    const answer = await pay('mistakes', 'ä', { settlement_date: '2026-02-30', currency: 'euro', amount: 0 });
    expect(answer.body.errors.map((one: { path: string }) => one.path).toSorted()).toEqual([
      ...['amount', 'currency', 'seller_id', 'settlement_date'],
    ]);
    expect(await pay('mistakes', 'seller-1', { source: 'nobody' })).toMatchObject({
      body: { code: 'validation_failed' },
    });
    expect(await system.get('/v1/payouts/nobody')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });
});

describe('paying out a day from a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'paidonce-payouts-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const project = fileURLToPath(new URL('../..', import.meta.url));
  const program = `import { payoutsCommand } from './src/cli/payouts.ts';
    await payoutsCommand().parseAsync(process.argv.slice(1), { from: 'user' });`;

  function file(name: string, rows: readonly string[]): string {
    const path = join(folder, name);
    writeFileSync(path, ['seller_id,amount,currency,destination', ...rows].join('\n'));
    return path;
  }

  function start(path: string, more: readonly string[] = [], apiUrl = system.servers[0]?.url) {
    const args = ['--import', 'tsx', '--input-type=module', '-e', program, '--', 'run', ...more];
    const env = { ...process.env, PAIDONCE_API_URL: apiUrl, PAIDONCE_API_KEY: system.apiKey };
    let child: ChildProcess | undefined;
    const ended = new Promise<{ code: number; out: string; err: string }>((resolve) => {
      child = execFile(
        process.execPath,
        [...args, '--date', DAY, '--source', 'sim', '--file', path],
        { cwd: project, env },
        (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
      );
    });
    return { kill: () => child?.kill('SIGKILL'), ended };
  }
  const run = (path: string, ...more: string[]) => start(path, more).ended;

  it('pays each seller once, however often it runs', async () => {
    const rows = Array.from({ length: 30 }, (_, n) => `day-${n},${100 + n},EUR,acct_${n}`);
    const path = file('day.csv', rows);
    const first = await run(path);
    expect([first.code, first.out]).toEqual([0, expect.stringContaining('30 of 30 payouts are through: 3435 EUR')]);
    expect(first.err).toContain('payouts: 30 of 30');
    const again = await run(path, '--json');
    expect(again.code).toBe(0);
    const report = JSON.parse(again.out);
    expect(report).toMatchObject({ through: 30, not_through: 0 });
    expect(report.payouts[3]).toMatchObject({
      seller_id: 'day-3',
      id: `test:day-3:${DAY}`,
      result: 'paid',
      amount: 103,
    });
    const made = (await system.atGateway()).payouts.filter(({ seller_id }) => seller_id.startsWith('day-'));
    expect(made).toHaveLength(30);
  });

  it('goes on where a run was ended, and pays nobody twice', async () => {
    await system.faults({ slow_ms: { ms: [200, 200], calls: ['payouts.writes'] } });
    const path = file(
      'ended.csv',
      Array.from({ length: 40 }, (_, n) => `ended-${n},100,EUR,acct_${n}`),
    );
    const first = start(path);
    await eventually(
      'some are asked for',
      async () => (await system.count(`payouts where seller_id like 'ended-%'`)) >= 5,
    );
    first.kill();
    await first.ended;
    await system.faults({});
    // What was in flight is answered within moments; a run before that says so, and another one finds it through.
    await eventually('all are through', async () => (await run(path)).code === 0, 60_000);
    const made = (await system.atGateway()).payouts.filter(({ seller_id }) => seller_id.startsWith('ended-'));
    expect(made).toHaveLength(40);
  }, 120_000);

  it('sends nothing where the file has mistakes, and names them all', async () => {
    const path = file('bad.csv', ['bad-1,100,EUR,acct_1', 'bad-2,1.5,EUR,acct_2', 'bad-1,100,EUR,']);
    const { code, out, err } = await run(path);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('Nothing was sent: the file has 3 mistakes.');
    expect(err).toContain('line 3: amount must be a whole number');
    expect(err).toContain('line 4: seller_id is that of line 2');
    expect(err).toContain('line 4: destination must be text');
    expect(await system.count(`payouts where seller_id like 'bad-%'`)).toBe(0);
  });

  it('says which are not through, and ends with an error', async () => {
    await pay('taken', 'some-1', { amount: 5 });
    await system.faults({
      refuse: { chance: 1, calls: ['payouts.writes'], next: 1, status: 402, code: 'insufficient_balance' },
    });
    const { code, out } = await run(file('some.csv', ['some-1,100,EUR,acct_1', 'some-2,100,EUR,acct_2']));
    expect(code).toBe(1);
    expect(out).toContain('0 of 2 payouts are through');
    expect(out).toContain(
      `some-1: refused: test:some-1:${DAY} is this seller's payout of the day, with another amount`,
    );
    expect(out).toContain('some-2: waiting for a person: needs_review insufficient_balance');
  });

  it('says at once where no API answers', async () => {
    const path = file('nobody.csv', ['s,1,EUR,a']);
    const { code, out } = await start(path, [], 'http://127.0.0.1:2').ended;
    expect(code).toBe(1);
    expect(out).toMatch(/s: without an answer of the API: .*ECONNREFUSED/);
  });
});
