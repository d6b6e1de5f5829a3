import type { Config } from '../config.ts';

/** What the start log says about the settings: every address and number, no secret, no password, no key. */
export function summariseConfig(config: Config): Record<string, unknown> {
  return {
    database: withoutSecrets(config.database.url),
    database_listen:
      config.database.listenUrl === config.database.url ? 'same' : withoutSecrets(config.database.listenUrl),
    database_pool_max: config.database.poolMax,
    database_prepared_statements: config.database.prepared,
    temporal: `${config.temporal.address}/${config.temporal.namespace}`,
    http: `${config.http.host}:${config.http.port}`,
    sources: config.sources.map(({ name, kind, mode, apiBase, webhookSecrets }) => ({
      name,
      kind,
      mode,
      api_base: apiBase === null ? 'public' : withoutSecrets(apiBase),
      webhook_secrets: webhookSecrets.length,
    })),
    policies: config.policies,
    mail: config.mail === null ? 'off' : withoutSecrets(config.mail.smtpUrl),
    outgoing_allow_networks: config.outgoing.allowNetworks,
    sinks: config.sinks.map(({ name, url, types }) => ({ name, host: new URL(url).host, event_types: types })),
    // The path of a Slack address is its secret.
    alerts: {
      slack: config.alerts.slackUrl === null ? 'off' : new URL(config.alerts.slackUrl).host,
      email: config.alerts.email.length,
      remind_after_ms: config.alerts.remindAfterMs,
    },
    worker_metrics: config.workerMetrics === null ? 'off' : `${config.workerMetrics.host}:${config.workerMetrics.port}`,
    relay: config.relay,
    log_level: config.logLevel,
  };
}

/** A URL without its user, password, query and fragment: each may carry a credential. */
function withoutSecrets(address: string): string {
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname}`;
}
