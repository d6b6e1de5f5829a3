import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from '../../src/config.ts';

const DATABASE_URL = 'postgres://paidonce:hunter2@db.internal:5432/paidonce';

function load(file: string, env: NodeJS.ProcessEnv = {}) {
  return loadConfig({ DATABASE_URL, PAIDONCE_CONFIG: 'paidonce.yaml', ...env }, () => file);
}

function mistakes(file: string): readonly string[] {
  try {
    load(file);
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes;
    throw error;
  }
  return [];
}

describe('sinks and alerts', () => {
  it('are read from the file', () => {
    const file = `
sinks:
  - {name: crm, url: "https://crm.example/events", event_types: [order.paid, refund.succeeded], secret: "\${CRM}", headers: {x-team: a}}
  - {name: analytics, url: "http://10.0.0.7/", event_types: ["*"]}
alerts: {slack_url: "\${ALERT_SLACK_URL}", email: [ops@shop.example], remind_after: 30m}
mail: {smtp_url: "smtp://mail.internal"}`;
    const { sinks, alerts } = load(file, { CRM: 'token', ALERT_SLACK_URL: 'https://hooks.slack.example/x' });
    expect(sinks[0]).toEqual({
      ...{ name: 'crm', url: 'https://crm.example/events', types: ['order.paid', 'refund.succeeded'] },
      ...{ secret: 'token', headers: { 'x-team': 'a' } },
    });
    expect(sinks[1]).toMatchObject({ secret: null, headers: {} });
    expect(sinks[1]?.types).toContain('payout.failed');
    expect(alerts).toEqual({
      ...{ channels: ['log', 'slack', 'email'], slackUrl: 'https://hooks.slack.example/x' },
      ...{ email: ['ops@shop.example'], remindAfterMs: 30 * 60_000 },
    });
    expect(load(file, { CRM: 'token' }).alerts.channels).toEqual(['log', 'email']);
  });

  it('with mistakes are refused, each with advice', () => {
    const file = `
sinks:
  - {name: crm, url: "ftp://crm", event_types: []}
  - {name: crm, url: "https://crm.example", event_types: [order.payed]}
alerts: {slack_url: nowhere, email: [nobody], remind_after: soon}`;
    expect(mistakes(file)).toEqual([
      'sinks[0].url: must be a URL such as https://crm.example/events',
      'sinks[0].event_types: is empty; give a list such as [order.paid]',
      expect.stringMatching(/^sinks\[1\]\.event_types\[0\]: must be one of \*, order\.paid/),
      'alerts.slack_url: must be a URL such as https://hooks.slack.com/services/…',
      'alerts.email[0]: must be an e-mail address',
      expect.stringMatching(/^alerts\.remind_after: must be a duration/),
    ]);
    expect(mistakes('alerts: {email: [ops@shop.example]}')).toEqual([
      'alerts.email: needs a mail server; set mail.smtp_url or SMTP_URL',
    ]);
    const twice = '{name: crm, url: "https://crm.example", event_types: [order.paid]}';
    expect(mistakes(`sinks: [${twice}, ${twice}]`)).toEqual([
      'sinks[1].name: crm is taken by another sink; give each its own name',
    ]);
  });
});
