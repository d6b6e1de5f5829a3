import { describe, expect, it } from 'vitest';
import { createLogger } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';

function collected(level = 'info') {
  const lines: string[] = [];
  const log = createLogger(level, 'server', { write: (line: string) => void lines.push(line) });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? '{}') as Record<string, any> };
}

describe('the log', () => {
  it('is one JSON line per outcome, with the level by name, the time and the process', () => {
    const { log, lines, last } = collected();
    log.info({ source: 'stripe', outcome: 'marked_paid', took_ms: 12 }, 'payment applied');
    log.debug('not written at this level');
    expect(lines).toHaveLength(1);
    expect(last()).toMatchObject({
      level: 'info',
      name: 'server',
      pid: process.pid,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
      source: 'stripe',
      outcome: 'marked_paid',
      took_ms: 12,
      msg: 'payment applied',
    });
  });

  it('censors secrets, authorization, e-mail and card data by name, at every depth and in every spelling', () => {
    const { log, last } = collected();
    const at = new Date(0);
    log.info({
      at,
      headers: { Authorization: 'Bearer abc.def', 'Stripe-Signature': 't=1,v1=ff', 'content-type': 'application/json' },
      sources: [{ name: 'stripe', apiKey: 'k-1', webhookSecrets: [{ secret: 's-1' }] }],
      order: {
        customer: { id: 'c1', email: 'ada@example.org' },
        method: { card: { number: '4242424242424242' }, cvc: 1 },
      },
      secret: null,
      link: new URL('https://u:p@x.example/'),
      reason: new Error('refused for ada@example.org'),
      body: Buffer.from('4242424242424242'),
    });
    expect(last()).toMatchObject({
      at: at.toISOString(),
      headers: { Authorization: '[redacted]', 'Stripe-Signature': '[redacted]', 'content-type': 'application/json' },
      sources: [{ name: 'stripe', apiKey: '[redacted]', webhookSecrets: '[redacted]' }],
      order: { customer: { id: 'c1', email: '[redacted]' }, method: { card: '[redacted]', cvc: '[redacted]' } },
      secret: null,
      link: 'https://[redacted]@x.example/',
      reason: { type: 'Error', message: 'refused for [redacted]' },
      body: '[16 bytes]',
    });
  });

  it('censors what looks like a secret in messages, in the fields of a child and in errors with their causes', () => {
    const { log, lines, last } = collected();
    const secrets = 'sk_live_abc123 whsec_YWJj Bearer abc.def ada@example.org postgres://paidonce:hunter2@db:5432/x';
    const cause = new Error(`cause: ${secrets}`);
    log.info(`message: ${secrets}`);
    log.child({ run: 1 }).child({ note: secrets, email: 'hunter2' }).info('child');
    log.error({ err: new Error(`outer: ${secrets}`, { cause }), payment_id: 'pay_1' }, 'failed');
    expect(last()).toMatchObject({
      payment_id: 'pay_1',
      err: { type: 'Error', message: expect.stringContaining('outer') as string },
    });
    log.error(new Error(`bare: ${secrets}`));
    expect(lines).toHaveLength(4);
    for (const line of lines) {
      for (const secret of ['abc123', 'YWJj', 'abc.def', 'ada@', 'hunter2']) expect(line).not.toContain(secret);
    }
    expect(lines.join()).toContain('db:5432/x');
  });

  it('survives a cycle', () => {
    const { log, last } = collected();
    const cycle: Record<string, unknown> = { name: 'a' };
    cycle['self'] = cycle;
    log.info({ cycle }, 'still written');
    expect(last()).toMatchObject({ msg: 'still written' });
  });
});

describe('the metrics', () => {
  it('are named paidonce_* and counted by labels', async () => {
    const metrics = createMetrics();
    metrics.webhooks.inc({ source: 'sim', result: 'accepted' });
    metrics.webhookAckSeconds.observe(0.004);
    metrics.paymentsApplied.inc({ outcome: 'marked_paid' });
    metrics.relayHandedOver.inc({ kind: 'inbox' }, 3);
    metrics.deadLetters.inc({ kind: 'outcome_unknown' });
    metrics.gatewayCalls.inc({ source: 'sim', call: 'create_refund', result: 'unknown' });
    const text = await metrics.registry.metrics();
    for (const line of [
      'paidonce_webhooks_total{source="sim",result="accepted"} 1',
      'paidonce_webhook_ack_seconds_bucket{le="0.005"} 1',
      'paidonce_webhook_ack_seconds_count 1',
      'paidonce_payments_applied_total{outcome="marked_paid"} 1',
      'paidonce_relay_handed_over_total{kind="inbox"} 3',
      'paidonce_dead_letters_total{kind="outcome_unknown"} 1',
      'paidonce_gateway_calls_total{source="sim",call="create_refund",result="unknown"} 1',
    ]) {
      expect(text).toContain(line);
    }
  });

  it('of two registries do not meet', async () => {
    createMetrics().webhooks.inc({ source: 'sim', result: 'accepted' });
    expect(await createMetrics().registry.metrics()).not.toContain('source="sim"');
  });
});
