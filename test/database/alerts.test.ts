import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSendAlerts } from '../../src/activities/send-alerts.ts';
import { watchCredentials } from '../../src/activities/watch-credentials.ts';
import { decideDeadLetter } from '../../src/database/decide-dead-letter.ts';
import { alertsAreLate } from '../../src/database/find-alerts.ts';
import { openDeadLetter, recoverDeadLetters } from '../../src/database/open-dead-letter.ts';
import { inTransaction } from '../../src/database/pool.ts';
import { storeDelivery } from '../../src/database/store-delivery.ts';
import { GatewayError } from '../../src/domain/gateway-error.ts';
import type { AlertMessage } from '../../src/domain/plan-alerts.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import type { Gateway } from '../../src/gateways/gateway.ts';
import type { AlertChannel } from '../../src/notify/alerts/alert-channel.ts';
import { DeliveryError } from '../../src/notify/delivery-error.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

const HOUR = 3_600_000;
const REMIND = 4 * HOUR;

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
beforeEach(() => db.pool.query('truncate alerts, alert_tellings, alert_channels, dead_letters cascade'));

const open = (id: string, lastError = 'no') =>
  inTransaction(db.pool, (tx) =>
    openDeadLetter(tx, {
      ...{ id, kind: 'refunds_exceed_captured', source: 'sim', paymentId: 'pay_1', amount: 10_000n, currency: 'EUR' },
      lastError,
    }),
  );
const recover = (id: string) => inTransaction(db.pool, (tx) => recoverDeadLetters(tx, [id]));
const decide = (id: string) =>
  decideDeadLetter(
    db.pool,
    { deadLetterId: id, action: 'give_up', note: 'seen', outcome: null, gatewayId: null, by: 'ada' },
    DEFAULT_POLICIES,
  );
const alerts = async () =>
  (await db.pool.query('select key, kind, outcome, handed_over_at is null as waits from alerts order by id'))
    .rows as unknown[];

interface Teller {
  readonly messages: AlertMessage[];
  readonly metrics: ReturnType<typeof createMetrics>;
  /** As the workflow does it: until there is nothing more to say now. */
  tell(at: number): Promise<{ sent: unknown[]; nextLookMs: number | null }>;
  once(at: number): Promise<unknown>;
}

function teller(
  send: (...call: Parameters<AlertChannel['send']>) => Promise<unknown> = () => Promise.resolve(),
): Teller {
  const messages: AlertMessage[] = [];
  const metrics = createMetrics();
  const channel: AlertChannel = {
    name: 'slack',
    async send(message, signal) {
      await send(message, signal);
      messages.push(message);
    },
  };
  const sendAlerts = createSendAlerts({
    ...{ pool: db.pool, metrics },
    alerts: { channels: [channel], remindAfterMs: REMIND },
  });
  return {
    ...{ messages, metrics },
    once: (at) => sendAlerts('slack', at),
    async tell(at) {
      const sent: unknown[] = [];
      for (;;) {
        const told = await sendAlerts('slack', at);
        if (told.sent === null) return { sent, nextLookMs: told.nextLookMs };
        sent.push(told.sent);
      }
    },
  };
}

const NOW = Date.now();

describe('an alert', () => {
  it('is raised in the transaction that opens a dead letter, and closed by the one that closes it', async () => {
    await expect(
      inTransaction(db.pool, async (tx) => {
        await openDeadLetter(tx, { id: 'a', kind: 'outcome_unknown', source: 'sim', lastError: 'no' });
        throw new Error('rolled back');
      }),
    ).rejects.toThrow();
    expect(await alerts()).toEqual([]);
    await open('a');
    await open('a', 'met again');
    await open('b');
    expect(await alerts()).toEqual([
      { key: 'dead_letter:a', kind: 'refunds_exceed_captured', outcome: null, waits: true },
      { key: 'dead_letter:b', kind: 'refunds_exceed_captured', outcome: null, waits: true },
    ]);
    await recover('a');
    await decide('b');
    expect(await alerts()).toMatchObject([{ outcome: 'recovered' }, { outcome: 'decided' }]);
  });

  it('is raised for an unreadable event, too, by the statement that stores it', async () => {
    await storeDelivery(db.pool, {
      source: 'sim',
      event: {
        ...{ eventId: 'evt_odd', eventType: 'unreadable', state: 'held', reason: 'no JSON', subject: null },
        ...{ objectId: null, paymentId: null, orderId: null, claimed: null, reference: null, occurredAt: null },
        ...{ amount: null, currency: null, fee: null, withheld: null },
      },
      ...{ body: Buffer.from('?'), bodySha256: Buffer.from('00', 'hex'), payload: null, headers: '{}' },
      remoteAddress: null,
    });
    expect(await alerts()).toEqual([
      { key: 'dead_letter:event_unreadable:sim:evt_odd', kind: 'event_unreadable', outcome: null, waits: true },
    ]);
  });

  it('that a person decided is not spoken of again; that came right by itself is, where it had been told', async () => {
    const { tell, messages } = teller();
    for (const id of ['decided', 'recovered']) await open(id);
    expect((await tell(NOW)).sent).toEqual(['raised']);
    await open('never told');
    await decide('decided');
    await recover('recovered');
    await recover('never told');
    expect(await tell(NOW + 1)).toEqual({ sent: ['recovered'], nextLookMs: null });
    expect(messages[1]?.alerts.map(({ subject }) => subject.dead_letter_id)).toEqual(['recovered']);
    expect(await tell(NOW + 48 * HOUR)).toEqual({ sent: [], nextLookMs: null });
  });

  it('that opens anew is new trouble, and its recovery before nobody could hear of it is none', async () => {
    const { tell } = teller();
    await open('a');
    await tell(NOW);
    await recover('a');
    await open('a');
    expect((await tell(NOW + 1)).sent).toEqual(['raised']);
    await decide('a');
    expect((await tell(NOW + 2)).sent).toEqual([]);
  });

  it('carries ids and amounts, and no text of a gateway, which may hold anything', async () => {
    const { tell, messages } = teller();
    await open('a', 'card of ada@example.com was refused');
    await tell(NOW);
    expect(JSON.stringify(messages)).not.toContain('ada');
    expect(messages[0]?.alerts[0]).toMatchObject({
      kind: 'refunds_exceed_captured',
      subject: { dead_letter_id: 'a', source: 'sim', payment_id: 'pay_1', amount: '10000', currency: 'EUR' },
    });
  });

  it('nobody decides is reminded of after the time that was set, then daily', async () => {
    const { tell } = teller();
    await open('a');
    expect(await tell(NOW)).toEqual({ sent: ['raised'], nextLookMs: REMIND });
    expect(await tell(NOW + REMIND - 1)).toEqual({ sent: [], nextLookMs: 1 });
    expect(await tell(NOW + REMIND)).toEqual({ sent: ['reminder'], nextLookMs: 24 * HOUR });
    expect((await tell(NOW + REMIND + 24 * HOUR)).sent).toEqual(['reminder']);
  });
});

describe('a message', () => {
  it('is sent by one of ten senders at once', async () => {
    let others = 0;
    const { once, messages } = teller(() => eventually('the others were turned away', async () => others === 9));
    await open('a');
    const turnedAway = (error: unknown) => {
      others += 1;
      return (error as { type?: string }).type;
    };
    const results = await Promise.all(Array.from({ length: 10 }, () => once(NOW).catch(turnedAway)));
    expect(messages).toHaveLength(1);
    expect(results.filter((result) => result === 'AlertChannelBusy')).toHaveLength(9);
  });

  it('that was sent, and whose sender died before it was written down, is sent again', async () => {
    let dies = true;
    const { once, tell, messages } = teller();
    const dying = teller(async () => {
      // The server took it; then the process is gone, and its lease runs out.
      if (dies) throw new Error('killed');
    });
    await open('a');
    await expect(dying.once(NOW)).rejects.toThrow('killed');
    dies = false;
    await once(NOW);
    expect(messages).toHaveLength(1);
    expect((await tell(NOW)).sent).toEqual([]);
  });

  it('of a thousand at once is one, with the right numbers; it is counted when it cannot be sent', async () => {
    let fails = true;
    const one = teller(() => {
      if (fails) throw new DeliveryError('alerts by slack answered 500.', { retryAfterMs: 7_000 });
      return Promise.resolve();
    });
    await db.pool.query(
      `insert into dead_letters (id, kind, source, last_error)
       select 'dl_' || n, case when n % 4 = 0 then 'refund_failed' else 'outcome_unknown' end, 'sim', 'no'
       from generate_series(1, 1000) n`,
    );
    await expect(one.once(NOW)).rejects.toMatchObject({ nextRetryDelay: 7_000, nonRetryable: false });
    expect(await one.metrics.registry.metrics()).toContain('paidonce_alerts_failed_total{channel="slack"} 1');
    expect((await db.pool.query('select attempts, last_error from alert_channels')).rows).toEqual([
      { attempts: 1, last_error: 'alerts by slack answered 500.' },
    ]);
    expect(await alertsAreLate(db.pool, ['log', 'slack'])).toBe(false);
    await db.pool.query("update alerts set raised_at = now() - interval '6 minutes'");
    expect(await alertsAreLate(db.pool, ['slack'])).toBe(true);
    fails = false;
    await one.tell(NOW);
    expect(one.messages.map(({ alerts: told }) => told.length)).toEqual([1000]);
    expect(await alertsAreLate(db.pool, ['slack'])).toBe(false);
    expect(await alertsAreLate(db.pool, ['slack', 'email'])).toBe(true);
  });
});

describe('a gateway that refuses our key', () => {
  let refuses: Set<string>;
  const read = (call: string) => async () => {
    if (refuses.has(call)) throw new GatewayError('no', { kind: 'temporary', code: 'unauthorized' });
    return [] as never;
  };
  const watched = () =>
    watchCredentials(db.pool, {
      source: 'sim',
      fetchPayment: read('fetchPayment'),
      findPayouts: read('findPayouts'),
    } as unknown as Gateway);
  const ask = (gateway: Gateway, call: 'fetchPayment' | 'findPayouts') =>
    gateway[call]('x', new Date()).then(
      () => 'answered',
      (error: unknown) => (error as GatewayError).code,
    );

  beforeEach(() => {
    refuses = new Set();
  });

  it('is told once, however often it is asked, and is over when it answers again', async () => {
    const gateway = watched();
    refuses.add('fetchPayment');
    for (let n = 0; n < 3; n += 1) expect(await ask(gateway, 'fetchPayment')).toBe('unauthorized');
    const raised = { key: 'credentials:sim', kind: 'credentials_refused' };
    expect(await alerts()).toEqual([{ ...raised, outcome: null, waits: true }]);
    refuses.clear();
    expect(await ask(gateway, 'fetchPayment')).toBe('answered');
    expect(await alerts()).toEqual([{ ...raised, outcome: 'recovered', waits: true }]);
    refuses.add('fetchPayment');
    await ask(gateway, 'fetchPayment');
    expect(await alerts()).toMatchObject([{ outcome: 'recovered' }, { outcome: null }]);
  });

  it('for one kind of question is not over because it answers another', async () => {
    const gateway = watched();
    refuses.add('findPayouts');
    await ask(gateway, 'findPayouts');
    await ask(gateway, 'fetchPayment');
    expect(await alerts()).toMatchObject([{ outcome: null }]);
  });

  it('is over for a process that started later, too, and ages where nobody asks any more', async () => {
    refuses.add('fetchPayment');
    await ask(watched(), 'fetchPayment');
    refuses.clear();
    await ask(watched(), 'fetchPayment');
    expect(await alerts()).toMatchObject([{ outcome: 'recovered' }]);
    refuses.add('fetchPayment');
    await ask(watched(), 'fetchPayment');
    await db.pool.query("update alerts set seen_at = now() - interval '25 hours'");
    const { tell } = teller();
    expect(await tell(NOW)).toEqual({ sent: [], nextLookMs: null });
    expect(await alerts()).toMatchObject([{ outcome: 'recovered' }, { outcome: 'aged' }]);
  });

  it('changes no answer, even where the alert cannot be written', async () => {
    const gateway = watchCredentials(
      { query: () => Promise.reject(new Error('PostgreSQL is away')) } as never,
      { source: 'sim', fetchPayment: read('fetchPayment') } as unknown as Gateway,
    );
    expect(await ask(gateway, 'fetchPayment')).toBe('answered');
    refuses.add('fetchPayment');
    expect(await ask(gateway, 'fetchPayment')).toBe('unauthorized');
  });
});
