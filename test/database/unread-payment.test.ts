import { MockActivityEnvironment } from '@temporalio/testing';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Dependencies } from '../../src/activities/dependencies.ts';
import { createSettlePayment, type SettledPayment } from '../../src/activities/settle-payment.ts';
import { replayEvent } from '../../src/database/replay-event.ts';
import { readUnfinishedWork } from '../../src/database/unfinished-work.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { standardSource } from '../support/engine.ts';
import { sendJson, startScriptedServer, type ScriptedServer } from '../support/scripted-server.ts';
import { facts, look, seedEvent, seedOrder } from '../support/seed.ts';

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];
const GOOD = { payment_id: 'pay_1', order_id: 'ord_1', status: 'captured', amount: 10_000, currency: 'EUR' };

let db: TestDatabase;
let gateway: ScriptedServer;
let answer: (response: ServerResponse) => unknown;
const settled = (body: object) => (response: ServerResponse) => sendJson(response, 200, body);
const failing = (response: ServerResponse) => sendJson(response, 500, {});

beforeAll(async () => {
  db = await createTestDatabase();
  gateway = await startScriptedServer((_request, response) => answer(response));
});
afterAll(async () => {
  await gateway.close();
  await db.drop();
});
beforeEach(async () => {
  answer = failing;
  gateway.requests.length = 0;
  await db.pool
    .query(`truncate orders, order_lines, order_payments, payments, refunds, webhook_events, processed_events,
    outbox, dead_letters, alerts, bookings, loyalty_entries, invoices, state_transitions, ledger_entries cascade`);
  await seedOrder(db.pool, { id: 'ord_1' });
});

const rows = async (sql: string) => (await db.pool.query(sql)).rows;
const event = () => seedEvent(db.pool, { id: 'evt_1', paymentId: 'pay_1', orderId: 'ord_1' });

/** One try of the step: the third ordinary one, after which nothing is left of the look, unless said otherwise. */
async function settle(
  at: number,
  { callers = [], attempt = 3, isLocal = false }: { callers?: string[]; attempt?: number; isLocal?: boolean } = {},
): Promise<SettledPayment> {
  const step = createSettlePayment({
    ...{ pool: db.pool, sources: new Map([standardSource(gateway.url)]), policies: DEFAULT_POLICIES },
    ...{ metrics: createMetrics(), log: createLogger('silent', 'test'), wakeRelay: () => undefined },
  } as unknown as Dependencies);
  const input = { source: 'sim', paymentId: 'pay_1', callers, look: true, at };
  const seen: unknown = await new MockActivityEnvironment({ attempt, isLocal }).run(step, input);
  if (seen === null) throw new Error('Nothing asked for a look.');
  return seen as SettledPayment;
}

/** Looks as its workflow does, each time when it said it would. */
async function lookFor(ms: number, from: number): Promise<SettledPayment> {
  let last = await settle(from);
  for (let at = from + (last.nextLookMs ?? ms); at <= from + ms; at += last.nextLookMs ?? ms) last = await settle(at);
  return last;
}

const UNUSABLE: readonly (readonly [string, (response: ServerResponse) => unknown])[] = [
  ['half a minor unit', settled({ ...GOOD, amount: 10.5 })],
  ['an amount below zero', settled({ ...GOOD, amount: -1_000 })],
  ['a currency that is none', settled({ ...GOOD, currency: 'EURO' })],
  ['a status that it never told of', settled({ ...GOOD, status: 'teleported' })],
  ['another payment', settled({ ...GOOD, payment_id: 'pay_other' })],
  ['a page for people', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sorry</h1>')],
  ['500', failing],
  ['403', (response) => sendJson(response, 403, {})],
];

describe('a payment about which the gateway answers for ever', () => {
  it.each(UNUSABLE)(
    '%s goes before a person after 5 s, 30 s, 5 min and 1 h, and is looked at ever after',
    async (_, bad) => {
      answer = bad;
      await event();
      const from = Date.now();
      const first = await settle(from, { callers: ['browser'] });
      expect(first).toMatchObject({
        ...{ pendingEvents: 1, waitingFor: 'gateway', nextLookMs: 5 * SECOND, needsHuman: false },
        callerOutcomes: { browser: 'pending' },
      });
      expect(await rows('select state, attempts, last_error from webhook_events')).toEqual([
        { state: 'pending', attempts: 1, last_error: expect.stringMatching(/^The payment cannot be read: sim /) },
      ]);
      expect(await rows('select from dead_letters')).toEqual([]);
      const told = 5 * SECOND + 30 * SECOND + 5 * MINUTE + HOUR;
      await lookFor(told - 1, from + 5 * SECOND);
      const last = await settle(from + told);
      expect(last).toMatchObject({ pendingEvents: 0, waitingFor: 'gateway', needsHuman: true, nextLookMs: HOUR });
      expect(await rows('select id, status, event_id, order_id, payment_id, last_error from dead_letters')).toEqual([
        {
          ...{ id: 'unknown_at_gateway:sim:pay_1', status: 'open' },
          ...{ event_id: 'evt_1', order_id: 'ord_1', payment_id: 'pay_1' },
          last_error: expect.stringMatching(/^The payment cannot be read: sim .* See at the gateway what became of it/),
        },
      ]);
      expect(await rows('select state from webhook_events')).toEqual([{ state: 'held' }]);
      expect(await rows('select status from orders')).toEqual([{ status: 'pending_payment' }]);

      await lookFor(72 * HOUR, from + told + HOUR);
      expect(await rows('select state, attempts from webhook_events')).toEqual([{ state: 'held', attempts: 5 }]);
      answer = settled(GOOD);
      expect(await settle(from + told + 80 * HOUR)).toMatchObject({ outcome: 'marked_paid', nextLookMs: null });
      expect(await rows('select state, outcome from webhook_events')).toEqual([
        { state: 'processed', outcome: 'marked_paid' },
      ]);
      expect(await rows('select status from dead_letters')).toEqual([{ status: 'recovered' }]);
      expect(await rows('select status from orders')).toEqual([{ status: 'paid' }]);
    },
  );
});

describe('a look that fails', () => {
  it.each([
    { attempt: 1, isLocal: true },
    { attempt: 2, isLocal: true },
    { attempt: 2, isLocal: false },
  ])('is tried again before it counts: %o', async (tried) => {
    await event();
    await expect(settle(Date.now(), tried)).rejects.toThrow('answered 500');
    expect(await rows('select state, attempts, next_look_at from webhook_events')).toEqual([
      { state: 'pending', attempts: 0, next_look_at: null },
    ]);
  });

  it('is tried once where the one before it failed too, and a flood costs one call for 500 events', async () => {
    await db.pool.query(
      `insert into webhook_events (source, event_id, event_type, subject, object_id, payment_id, claimed, body_sha256, state)
       select 'sim', 'evt_' || n, 'payment.captured', 'payment', 'pay_1', 'pay_1', 'captured', '\\x00', 'pending'
       from generate_series(1, 1100) n`,
    );
    const at = Date.now();
    const more = [await settle(at)];
    while (more.at(-1)?.more === true) more.push(await settle(at, { attempt: 1, isLocal: true }));
    expect(more.map((one) => one.pendingEvents)).toEqual([500, 500, 500]);
    expect(gateway.requests).toHaveLength(3);
    expect(await rows(`select count(*)::int as n from webhook_events where next_look_at is null`)).toEqual([{ n: 0 }]);
  });

  it('of a payment whose 1,100 events are before a person ends, and all of them are done once it can be read', async () => {
    await db.pool.query(
      `insert into webhook_events (source, event_id, event_type, subject, object_id, payment_id, claimed, body_sha256, state,
                                   attempts, next_look_at, last_error)
       select 'sim', 'evt_' || n, 'payment.captured', 'payment', 'pay_1', 'pay_1', 'captured', '\\x00', 'held', 5,
              now() - interval '1 minute', 'The payment cannot be read: x'
       from generate_series(1, 1100) n`,
    );
    const at = Date.now();
    const looks = [await settle(at)];
    while (looks.at(-1)?.more === true && looks.length < 10) looks.push(await settle(at));
    expect(looks.length).toBeLessThan(10);
    answer = settled(GOOD);
    const done = [await settle(at + HOUR)];
    while (done.at(-1)?.more === true) done.push(await settle(at + HOUR));
    expect(await rows('select state, count(*)::int as n from webhook_events group by 1')).toEqual([
      { state: 'processed', n: 1_100 },
    ]);
    expect(await rows('select status from dead_letters')).toEqual([{ status: 'recovered' }]);
  });

  it('forgets nobody who asked for a look at what was done before', async () => {
    await event();
    answer = settled(GOOD);
    const at = Date.now();
    await settle(at);
    await replayEvent(db.pool, 'sim', 'evt_1');
    answer = failing;
    expect((await settle(at)).nextLookMs).toBe(5 * MINUTE);
    expect(await rows('select state, look_again_at is not null as asked from webhook_events')).toEqual([
      { state: 'processed', asked: true },
    ]);
    answer = settled(GOOD);
    expect((await settle(at + 5 * MINUTE)).nextLookMs).toBeNull();
    expect(await rows('select state, look_again_at from webhook_events')).toEqual([
      { state: 'processed', look_again_at: null },
    ]);
    expect(await rows('select from dead_letters')).toEqual([]);
  });

  it('waits as long as the gateway asks for, and keeps nobody waiting for that', async () => {
    answer = (response) => sendJson(response, 429, {}, { 'retry-after': '90' });
    await event();
    const first = await settle(Date.now(), { callers: ['browser'], attempt: 1, isLocal: true });
    expect(first).toMatchObject({ callerOutcomes: { browser: 'pending' }, nextLookMs: 90 * SECOND });
    expect(gateway.requests).toHaveLength(1);
  });

  it('is no trouble of anybody where no event waits, and a payment that waits for its order goes on waiting', async () => {
    const at = Date.now();
    expect(await settle(at, { callers: ['browser'] })).toMatchObject({
      ...{ callerOutcomes: { browser: 'pending' }, pendingEvents: 0, waitingFor: null, nextLookMs: null },
      needsHuman: false,
    });
    await look(db.pool, facts({ paymentId: 'pay_1', orderId: 'ord_9' }), { callers: ['browser'] });
    expect((await settle(at)).nextLookMs).toBe(5 * MINUTE);
    expect(await rows('select from dead_letters')).toEqual([]);
  });

  it('leaves what was decided as it is: the caller hears the truth', async () => {
    await look(db.pool, facts({ paymentId: 'pay_1' }));
    expect((await settle(Date.now(), { callers: ['browser'] })).callerOutcomes).toEqual({
      browser: 'already_paid_same_payment',
    });
  });

  it('by no fault of the gateway is repeated as ever', async () => {
    await event();
    answer = (response) => sendJson(response, 200, GOOD);
    await db.pool.query('alter table payments rename to payments_away');
    try {
      await expect(settle(Date.now())).rejects.toThrow('payments');
    } finally {
      await db.pool.query('alter table payments_away rename to payments');
    }
    expect(await rows('select state, attempts from webhook_events')).toEqual([{ state: 'pending', attempts: 0 }]);
  });
});

describe('an event that is before a person because of its gateway', () => {
  const unfinished = async () =>
    (await readUnfinishedWork(db.pool, 'sim', null, 10)).work.map((one) => one.aggregateId);
  const sinceLong = () =>
    db.pool.query(
      `update webhook_events set received_at = now() - interval '3 days', next_look_at = now() - interval '1 s'`,
    );

  it('and that somebody replays meanwhile is still asked about, until a look settles it', async () => {
    await event();
    let at = Date.now();
    for (let looks = 0; looks < 20; looks += 1) at += (await settle(at)).nextLookMs ?? 0;
    await replayEvent(db.pool, 'sim', 'evt_1');
    expect(await settle(at)).toMatchObject({ pendingEvents: 1, nextLookMs: 5 * SECOND });
    expect(await rows('select status from dead_letters')).toEqual([{ status: 'open' }]);
    answer = settled(GOOD);
    await settle(at + 5 * SECOND);
    expect(await rows('select status from dead_letters')).toEqual([{ status: 'recovered' }]);
  });

  it.each(['cannot be read', 'is not shown'])(
    'and whose payment %s is unfinished work once its next look is due',
    async (why) => {
      if (why === 'is not shown') answer = settled({ ...GOOD, status: 'pending' });
      await event();
      let at = Date.now();
      for (let looks = 0; looks < 20; looks += 1) at += (await settle(at)).nextLookMs ?? 0;
      expect(await rows('select state from webhook_events')).toEqual([{ state: 'held' }]);
      expect(await unfinished()).toEqual([]);
      await sinceLong();
      expect(await unfinished()).toEqual(['pay_1']);
      answer = settled(GOOD);
      await settle(at + 48 * HOUR);
      expect(await rows('select status from dead_letters')).toEqual([{ status: 'recovered' }]);
      expect(await unfinished()).toEqual([]);
    },
  );
});
