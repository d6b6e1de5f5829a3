import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { sweepInbox } from '../../src/relay/sweep-inbox.ts';
import { sweepOutbox } from '../../src/relay/sweep-outbox.ts';
import { eventually } from '../support/eventually.ts';
import { openPaymentLab, type PaymentLab } from '../support/payment-lab.ts';
import { seedEvent, seedOrder } from '../support/seed.ts';

let lab: PaymentLab;
beforeAll(async () => {
  // Each test sweeps when it wants to.
  lab = await openPaymentLab({ relay: false });
});
afterAll(() => lab.close());
beforeEach(() => lab.db.pool.query('truncate webhook_events, outbox'));

const relay = (batch: number) => ({
  ...{ pool: lab.db.pool, client: lab.client.workflow, batch },
  ...{ metrics: createMetrics(), log: createLogger('silent', 'test') },
});

describe('an event that was handed over', () => {
  async function handedOver(name: string, minutesAgo: number, more = ''): Promise<void> {
    await seedEvent(lab.db.pool, { id: `evt_${name}`, paymentId: `pay_${name}`, orderId: `ord_${name}` });
    await lab.db.pool.query(
      `update webhook_events set received_at = now() - interval '1 hour', handed_over_at = now() - make_interval(mins => $2) ${more}
       where event_id = $1`,
      [`evt_${name}`, minutesAgo],
    );
  }
  const handedOverAgain = async () =>
    (
      await lab.db.pool.query<{ event_id: string }>(
        `select event_id from webhook_events where handed_over_at > now() - interval '1 minute' order by event_id`,
      )
    ).rows.map(({ event_id }) => event_id);

  it('and neither processed nor put aside within 10 minutes is handed over again, and handled', async () => {
    await seedOrder(lab.db.pool, { id: 'ord_lost' });
    await lab.pay('pay_lost', 'ord_lost');
    await handedOver('lost', 11);
    await sweepInbox(relay(100));
    expect(await handedOverAgain()).toEqual(['evt_lost']);
    await eventually('its order is paid', () =>
      lab.row(`select 1 from orders where id = 'ord_lost' and status = 'paid'`),
    );
  });

  it('is left alone before that, when it is done or put aside, and while it waits for a named time', async () => {
    await handedOver('young', 9);
    await handedOver('waiting', 30, `, next_look_at = now() + interval '1 minute'`);
    await handedOver('just_due', 30, `, next_look_at = now() - interval '9 minutes'`);
    await handedOver('overdue', 30, `, next_look_at = now() - interval '11 minutes'`);
    for (const state of ['held', 'ignored', 'processed']) await handedOver(state, 30, `, state = '${state}'`);
    await sweepInbox(relay(100));
    expect(await handedOverAgain()).toEqual(['evt_overdue']);
  });
});

describe('a row of the outbox that cannot be published', () => {
  const rows = async () =>
    (
      await lab.db.pool.query<{
        aggregate_id: string;
        published: boolean;
        attempts: number;
        last_error: string;
        wait: number;
      }>(
        `select aggregate_id, published_at is not null as published, attempts, last_error,
                round(extract(epoch from claimed_until - now()))::int as wait from outbox order by id`,
      )
    ).rows;

  it('backs off alone: ten of them in a batch of ten do not hold up the good one behind them', async () => {
    await lab.db.pool.query(
      `insert into outbox (event_type, aggregate_id, aggregate_version, payload)
       select 'refund.requested', 'poison_' || n, 1, '{}'::jsonb from generate_series(1, 10) as n
       union all select 'order.paid', 'good', 1, '{}'::jsonb`,
    );
    expect(await sweepOutbox(relay(10))).toBe(true);
    expect((await rows()).filter(({ last_error }) => last_error !== null)).toHaveLength(10);
    // One sweep finds it, unless so much time has passed that the others' turn has come again.
    for (let sweeps = 0; sweeps < 4 && (await rows()).at(-1)?.published !== true; sweeps += 1)
      await sweepOutbox(relay(10));
    const [first, ...others] = await rows();
    expect(first).toMatchObject({ published: false, last_error: expect.stringContaining('has no source') });
    expect(others.at(-1)).toMatchObject({ aggregate_id: 'good', published: true, attempts: 1, last_error: null });
  });

  it('is tried again after 1 s, then at twice the distance each time, 5 minutes at most', async () => {
    await lab.db.pool.query(
      `insert into outbox (event_type, aggregate_id, aggregate_version, payload) values ('refund.requested', 'poison', 1, '{}')`,
    );
    const waits: (number | undefined)[] = [];
    for (let attempt = 1; attempt <= 11; attempt += 1) {
      await sweepOutbox(relay(10));
      waits.push((await rows())[0]?.wait);
      expect(await sweepOutbox(relay(10))).toBe(false);
      expect((await rows())[0]?.attempts).toBe(attempt);
      await lab.db.pool.query(`update outbox set claimed_until = now() - interval '1 second'`);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  });
});

describe('the history of a run', () => {
  it('holds ids and no payload, whatever the order and its webhook hold', async () => {
    const secrets = ['someone@example.com', 'Ada Someone', 'the body of the webhook'];
    await seedOrder(lab.db.pool, { id: 'ord_private' });
    await lab.db.pool.query(
      `update orders set customer_email = $1, customer_name = $2 where id = 'ord_private'`,
      secrets.slice(0, 2),
    );
    for (const which of ['kept', 'extra']) {
      await lab.pay(`pay_${which}`, 'ord_private');
      await seedEvent(lab.db.pool, { id: `evt_${which}`, paymentId: `pay_${which}`, orderId: 'ord_private' });
      await lab.db.pool.query("update webhook_events set payload = $1, received_at = now() - interval '1 minute'", [
        JSON.stringify(secrets),
      ]);
      await sweepInbox(relay(100));
      await eventually('it is processed', () =>
        lab.row(`select 1 from webhook_events where event_id = $1 and state = 'processed'`, `evt_${which}`),
      );
    }
    await sweepOutbox(relay(100));
    const ids = ['payment:sim:pay_kept', 'payment:sim:pay_extra', 'refund:extra_capture:sim:pay_extra'];
    for (const id of ids) {
      const run = lab.client.workflow.getHandle(id);
      await run.result();
      const text = JSON.stringify(await run.fetchHistory(), (_name, value: unknown) =>
        value instanceof Uint8Array ? Buffer.from(value).toString() : value,
      );
      expect(text).toContain(id.split(':').at(-1));
      for (const secret of secrets) expect(text).not.toContain(secret);
    }
  });
});
