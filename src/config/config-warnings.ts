import type { Config } from '../config.ts';

/** The longest a request of the money API waits for the gateway's answer. */
const LONGEST_WAIT_MS = 5000;

/** Settings that work but are probably not meant: one line each, for the start log. */
export function configWarnings(config: Config): string[] {
  const warnings: string[] = [];
  if (config.sources.length === 0) {
    warnings.push(
      'no source is configured: every webhook is answered 404; name your gateways in the file of PAIDONCE_CONFIG',
    );
  }
  for (const { name, mode, apiKey } of config.sources) {
    const keyMode = /^(?:[sr]k|rzp)_(test|live)_/.exec(apiKey)?.[1];
    if (keyMode !== undefined && keyMode !== mode)
      warnings.push(`source ${name} is in ${mode} mode, but its API key is for ${keyMode} mode`);
  }
  if (config.policies.idempotencyLeaseMs <= LONGEST_WAIT_MS) {
    warnings.push(
      'policies.idempotency_lease is not longer than the 5 s a request may wait: keys are completed under running requests',
    );
  }
  if (config.mail === null) warnings.push('no SMTP_URL: receipts are not sent');
  if (config.alerts.slackUrl === null && config.alerts.email.length === 0) {
    warnings.push('no alerts.slack_url, no alerts.email: what waits for a person is told to the log alone');
  }
  return warnings;
}
