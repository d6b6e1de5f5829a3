import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** What a process counts, and the registry that `/metrics` prints. Labels are names of ours: never an id, never a sender's text. */
export interface Metrics {
  readonly registry: Registry;
  /** Deliveries by source (a configured one, else `unknown`) and what became of them. */
  readonly webhooks: Counter<'source' | 'result'>;
  /** Events found at the gateway whose webhooks never came. */
  readonly webhooksMissing: Counter<'source'>;
  /** Rows that break a promise, by its name, as the scheduled audit counted them last; nothing of those that hold. */
  readonly auditViolations: Gauge<'invariant'>;
  /** Seconds from a delivery's last byte to its answer. */
  readonly webhookAckSeconds: Histogram;
  /** Payments applied to an order, by outcome. */
  readonly paymentsApplied: Counter<'outcome'>;
  /** What the relay handed over, by kind: `inbox` or `outbox`. */
  readonly relayHandedOver: Counter<'kind'>;
  /** Dead letters opened, by kind. */
  readonly deadLetters: Counter<'kind'>;
  /** Attempts to tell people that failed, by channel: `slack`, `email`. */
  readonly alertsFailed: Counter<'channel'>;
  /** Attempts to tell a consumer of an event, by what came of them: `done`, `skipped`, `failed`, and `dead` where no more follow. */
  readonly deliveries: Counter<'consumer' | 'result'>;
  /** Calls to gateways by source, call and result. */
  readonly gatewayCalls: Counter<'source' | 'call' | 'result'>;
}

/** Metrics on a registry of their own, so that two in one process (as in tests) do not meet. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> =>
    new Counter({ name, help, labelNames, registers });
  return {
    registry,
    webhooks: counter('paidonce_webhooks_total', 'Deliveries by source and result.', ['source', 'result']),
    webhooksMissing: counter('paidonce_webhooks_missing_total', 'Events found at the gateway, never delivered.', [
      'source',
    ]),
    auditViolations: new Gauge({
      name: 'paidonce_audit_violations',
      help: 'Rows that break a promise, by its name, at the last scheduled audit.',
      labelNames: ['invariant'],
      registers,
    }),
    webhookAckSeconds: new Histogram({
      name: 'paidonce_webhook_ack_seconds',
      help: 'Seconds from a delivery to its answer.',
      // From one insert on an idle database up to 5 s, where the least patient gateway gives up, and beyond it.
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    paymentsApplied: counter('paidonce_payments_applied_total', 'Payments applied to orders by outcome.', ['outcome']),
    relayHandedOver: counter('paidonce_relay_handed_over_total', 'Events and messages the relay handed over.', [
      'kind',
    ]),
    deadLetters: counter('paidonce_dead_letters_total', 'Dead letters opened by kind.', ['kind']),
    alertsFailed: counter('paidonce_alerts_failed_total', 'Attempts to tell people that failed, by channel.', [
      'channel',
    ]),
    deliveries: counter('paidonce_deliveries_total', 'Attempts to tell consumers of events, by result.', [
      'consumer',
      'result',
    ]),
    gatewayCalls: counter('paidonce_gateway_calls_total', 'Calls to gateways by result.', ['source', 'call', 'result']),
  };
}
