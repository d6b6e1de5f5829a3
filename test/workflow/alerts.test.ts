import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decideDeadLetter } from '../../src/database/decide-dead-letter.ts';
import { createSweepAlerts } from '../../src/relay/sweep-alerts.ts';
import { alertsStartOptions, paymentStartOptions, refundStartOptions } from '../../src/relay/start-options.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import { createAlertChannels } from '../../src/notify/alerts/create-alert-channels.ts';
import { createMailer } from '../../src/notify/mail/create-mailer.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { refundMessages } from '../../src/workflows/messages.ts';
import { eventually } from '../support/eventually.ts';
import { startMailServer, type MailServer } from '../support/mail-server.ts';
import { openPaymentLab, type PaymentLab } from '../support/payment-lab.ts';
import { sendJson, startScriptedServer, type ScriptedServer } from '../support/scripted-server.ts';
import { seedEvent, seedOrder } from '../support/seed.ts';
import { createTimeSkippingEnvironment, timeSkippingProgram } from '../support/temporal.ts';

const program = await timeSkippingProgram();
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Everything that people are told by. */
interface People {
  readonly slack: ScriptedServer;
  readonly mail: MailServer;
  readonly logged: { readonly text: string; readonly count: unknown }[];
  /** What Slack takes; it answers 500 else. */
  slackWorks: boolean;
  readonly channels: ReturnType<typeof createAlertChannels>;
  texts(): string[];
}

async function openPeople(): Promise<People> {
  const logged: People['logged'] = [];
  const mail = await startMailServer();
  const slack = await startScriptedServer((_request, response) =>
    people.slackWorks ? sendJson(response, 200, 'ok') : sendJson(response, 500, 'no'),
  );
  const mailer = createMailer({ smtpUrl: mail.url, from: 'alerts@shop.example' });
  const people: People = {
    ...{ slack, mail, logged, slackWorks: true },
    channels: createAlertChannels(
      { slackUrl: `${slack.url}/services/s3cret`, email: ['ops@shop.example', 'night@shop.example'] },
      { mailer, now: Date.now, log: ({ count }, text) => logged.push({ text, count }) },
    ),
    texts: () => slack.requests.map(({ body }) => (JSON.parse(body) as { text: string }).text),
  };
  return people;
}

const ready = (lab: PaymentLab) => ({ client: lab.client.workflow, pool: lab.db.pool });
const deadLetters = (lab: PaymentLab, from: number, to: number) =>
  lab.db.pool.query(
    `insert into dead_letters (id, kind, source, payment_id, last_error)
     select 'dl_' || n, case when n % 2 = 0 then 'unmatched_payment' else 'outcome_unknown' end, 'sim', 'pay_' || n, 'no'
     from generate_series($1::int, $2::int) n`,
    [from, to],
  );
const giveUp = (lab: PaymentLab, deadLetterId: string) =>
  decideDeadLetter(
    lab.db.pool,
    { deadLetterId, action: 'give_up', note: 'seen', outcome: null, gatewayId: null, by: 'ada' },
    DEFAULT_POLICIES,
  );

describe('alerts', () => {
  let lab: PaymentLab;
  let people: People;
  beforeEach(async () => {
    people = await openPeople();
    lab = await openPaymentLab({ alerts: { channels: people.channels } });
  });
  afterEach(async () => {
    await lab.close();
    await people.slack.close();
    await people.mail.close();
  });
  const isOver = (channel: string) =>
    eventually(`alerts by ${channel} have ended`, async () => {
      const { status } = await lab.client.workflow.getHandle(`alerts:${channel}`).describe();
      return status.name === 'COMPLETED';
    });

  it('are one message on each channel at once, and the runs end when a person has decided', async () => {
    await deadLetters(lab, 2, 2);
    await eventually('all are told', async () => people.mail.mails.length === 1 && people.logged.length === 1);
    await eventually('Slack, too', async () => people.slack.requests.length === 1);
    expect(people.texts()[0]).toBe(
      [
        '*A person is needed: unmatched_payment*',
        '- unmatched_payment: captured, and its order never came (payment pay_2, source sim, dead letter dl_2)',
        'See: npx paidonce dead-letters list',
      ].join('\n'),
    );
    const [mail] = people.mail.mails;
    expect(mail?.to).toEqual(['ops@shop.example', 'night@shop.example']);
    expect(mail?.headers.get('subject')).toBe('[paidonce] A person is needed: unmatched_payment');
    expect(mail?.headers.get('message-id')).toMatch(/^<alert-raised-1-1-\d{4}-\d\d-\d\d@shop\.example>$/);
    expect((await giveUp(lab, 'dl_2')).result).toBe('decided');
    await Promise.all(['log', 'slack', 'email'].map(isOver));
    expect([people.slack.requests.length, people.mail.mails.length, people.logged.length]).toEqual([1, 1, 1]);
    // No address in any history, where it would stay.
    for (const channel of ['log', 'slack', 'email']) {
      const history = await lab.client.workflow.getHandle(`alerts:${channel}`).fetchHistory();
      expect(JSON.stringify(history)).not.toMatch(/shop\.example|s3cret/);
    }
    // A later one begins a fresh run.
    await deadLetters(lab, 4, 4);
    await eventually('the later one is told', async () => people.slack.requests.length === 2);
  });

  it('by Slack, which is away, hold up no other, are seen, and come when it is back', async () => {
    people.slackWorks = false;
    await deadLetters(lab, 1, 1);
    await eventually('mail and log are told', async () => people.mail.mails.length === 1 && people.logged.length === 1);
    await eventually('Slack was asked several times', async () => people.slack.requests.length > 2);
    expect(await lab.engine.metrics.registry.metrics()).toMatch(/paidonce_alerts_failed_total\{channel="slack"\} \d/);
    await eventually('it is written down', () =>
      lab.row("select 1 from alert_channels where channel = 'slack' and attempts > 1 and failing_since is not null"),
    );
    await deadLetters(lab, 2, 2);
    await eventually('of the next one, too', async () => people.mail.mails.length === 2);
    people.slackWorks = true;
    await eventually(
      'Slack is told',
      async () =>
        people.texts().at(-1)?.includes('A person is needed: 2 things') === true &&
        (await lab.row("select 1 from alert_channels where channel = 'slack' and attempts = 0")) !== undefined,
    );
    expect(people.texts().at(-1)).toContain('1 × outcome_unknown');
  });

  it("hold somebody else's text, which rings nobody's telephone", async () => {
    await lab.db.pool.query(
      `insert into dead_letters (id, kind, source, order_id, last_error)
       values ('dl_x', 'unmatched_payment', 'sim', '<!channel>&', 'no')`,
    );
    await eventually('it is told', async () => people.slack.requests.length === 1);
    expect(people.texts()[0]).toContain('order &lt;!channel&gt;&amp;');
  });
});

describe.skipIf(program === null)('over time, alerts', () => {
  let env: TestWorkflowEnvironment;
  let lab: PaymentLab;
  let people: People;

  beforeEach(async () => {
    people = await openPeople();
    env = await createTimeSkippingEnvironment(program ?? '');
    lab = await openPaymentLab({
      temporal: {
        ...{ address: env.address, namespace: env.namespace ?? 'default', client: env.client },
        close: () => env.teardown(),
      },
      relay: false,
      alerts: { channels: people.channels, remindAfterMs: 20 * MINUTE },
    });
  });
  afterEach(async () => {
    await lab.close();
    await people.slack.close();
    await people.mail.close();
  });

  /** What the relay does; on this server it is done by hand, so that it asks nothing of it while the clock jumps. */
  async function sweep(): Promise<void> {
    const log = createLogger('silent', 'test');
    await createSweepAlerts(['slack'])({ ...ready(lab), metrics: createMetrics(), log, batch: 100_000 });
  }

  it('of a thousand dead letters are a few messages with the right numbers', async () => {
    for (let from = 1; from < 1_000; from += 50) {
      await deadLetters(lab, from, from + 49);
      await sweep();
    }
    await env.sleep(3 * MINUTE);
    await eventually('all are told', () => lab.row('select 1 from alert_tellings having count(*) = 1000'));
    const texts = people.texts();
    const told = (kind: string) =>
      texts.reduce((sum, text) => sum + Number(new RegExp(`^(\\d+) × ${kind}`, 'm').exec(text)?.[1] ?? 0), 0);
    expect([told('unmatched_payment'), told('outcome_unknown')]).toEqual([500, 500]);
    expect(texts.length).toBeLessThanOrEqual(8);
    for (const text of texts) expect(text.split('\n').length).toBeLessThan(12);
    expect(texts.at(-1)).toMatch(/- and \d+ more$/m);
  });

  it.each([
    ['and nobody retries: it comes right by itself, which is told', false],
    ['and a person retries: it is carried out, and no more is said', true],
  ])('of a gateway that is down for an hour come once, and again as a reminder, %s', async (_what, retried) => {
    await seedOrder(lab.db.pool, { id: 'ord_1' });
    for (const n of [1, 2]) {
      await lab.pay(`pay_${n}`, 'ord_1');
      await seedEvent(lab.db.pool, { id: `evt_${n}`, paymentId: `pay_${n}`, orderId: 'ord_1' });
      await env.client.workflow.execute('processPayment', paymentStartOptions('sim', `pay_${n}`, 'ord_1'));
    }
    await lab.control('faults', { error_before: { chance: 1, calls: ['refunds'], status: 503 } }, 'PUT');
    const refundId = 'extra_capture:sim:pay_2';
    const refund = await env.client.workflow.start(
      'refundPayment',
      refundStartOptions({ refundId, source: 'sim', paymentId: 'pay_2', orderId: 'ord_1' }),
    );
    await env.sleep(15 * MINUTE);
    await sweep();
    await eventually('it is told', async () => people.slack.requests.length === 1);
    expect(people.texts()[0]).toContain('A person is needed: outcome_unknown');
    expect(people.texts()[0]).toContain('100.00 EUR, order ord_1, payment pay_2, refund extra_capture:sim:pay_2');
    await env.sleep(45 * MINUTE);
    expect(people.texts().slice(1)).toEqual([expect.stringContaining('*Still open: outcome_unknown*')]);
    await lab.control('faults', {}, 'PUT');
    if (retried) {
      const deadLetterId = (await lab.row<{ id: string }>('select id from dead_letters'))?.id ?? '';
      const decision = { deadLetterId, action: 'retry', note: 'it is back', outcome: null, gatewayId: null, by: 'ada' };
      expect(await decideDeadLetter(lab.db.pool, decision as never, DEFAULT_POLICIES)).toEqual({ result: 'decided' });
      await refund.signal(refundMessages.changed);
    }
    expect(await refund.result()).toBe('succeeded');
    await sweep();
    const alerts = env.client.workflow.getHandle('alerts:slack');
    await alerts.result();
    expect(await lab.refundsAtGateway('pay_2')).toHaveLength(1);
    const last = people.texts().slice(2);
    expect(last).toEqual(retried ? [] : [expect.stringContaining('*Came right by itself: outcome_unknown*')]);
  });

  it('that no channel takes for an hour begin anew after a while, with all that is open then', async () => {
    people.slackWorks = false;
    await deadLetters(lab, 1, 1);
    await env.client.workflow.start('alertPeople', alertsStartOptions('slack'));
    await env.sleep(HOUR);
    await deadLetters(lab, 2, 2);
    people.slackWorks = true;
    const asked = people.slack.requests.length;
    await env.sleep(16 * MINUTE);
    expect(people.texts().slice(asked)).toEqual([expect.stringContaining('A person is needed: 2 things')]);
  });
});
