import { formatMoney } from '../../domain/money.ts';
import type { Alert, AlertKind, AlertMessage } from '../../domain/plan-alerts.ts';

/** What each kind means, for somebody who reads it on a telephone; docs/runbook.md says what to do. */
const MEANINGS: Readonly<Record<AlertKind, string>> = {
  refund_failed: 'a refund was refused, or came back from the bank',
  payout_failed: 'a payout was refused, or came back from the bank',
  outcome_unknown: 'money may or may not have moved; the machine goes on looking',
  wrong_currency: 'captured in another currency than the order is in',
  late_capture: 'captured for an order that is cancelled or expired',
  order_not_payable: 'captured for an order that takes no payment',
  unmatched_payment: 'captured, and its order never came',
  unknown_at_gateway: 'the gateway does not show what an event claims, or cannot be asked',
  event_unreadable: 'a signed event, or the amount of its payment, cannot be understood',
  delivery_failed: 'an event could not be delivered to a receiver',
  refunds_exceed_captured: 'more was refunded than was captured',
  credentials_refused: 'the gateway refuses our API key: nothing of this account goes on',
  events_not_listed:
    'the gateway gives no list of its events that can be read to its end: webhooks that never came are not found',
  audit_violation: 'the audit found a promise broken; npx paidonce audit names each row',
};

/** A message shows that many one by one; beyond it, numbers say more. */
const SHOWN = 5;

export interface AlertText {
  readonly title: string;
  readonly lines: readonly string[];
}

/** A message in words: what it is about, counted by kind where it is about several, the first few, and where to look. */
export function alertText({ type, alerts }: AlertMessage): AlertText {
  const shown = alerts.slice(0, SHOWN).map((alert) => `- ${describe(alert)}`);
  const more = alerts.length - shown.length;
  return {
    title: title(type, alerts),
    lines: [
      ...(alerts.length === 1 ? [] : countByKind(alerts)),
      ...shown,
      ...(more > 0 ? [`- and ${more} more`] : []),
      ...(type === 'recovered' ? [] : [`See: ${whereToLook(alerts)}`]),
    ],
  };
}

/** What is no dead letter is seen, or tried again, elsewhere. */
const SEEN_BY: Readonly<Partial<Record<AlertKind, string>>> = {
  audit_violation: 'npx paidonce audit',
  events_not_listed: 'npx paidonce reconcile',
};

function whereToLook(alerts: readonly Alert[]): string {
  const commands = alerts.map(({ kind }) => SEEN_BY[kind] ?? 'npx paidonce dead-letters list');
  return [...new Set(commands)].join(', ');
}

function title(type: AlertMessage['type'], alerts: readonly Alert[]): string {
  const [first] = alerts;
  const one = alerts.length === 1 && first !== undefined;
  switch (type) {
    case 'raised':
      return one ? `A person is needed: ${first.kind}` : `A person is needed: ${alerts.length} things`;
    case 'reminder':
      return one ? `Still open: ${first.kind}` : `Still open: ${alerts.length} things`;
    case 'recovered':
      return one ? `Came right by itself: ${first.kind}` : `Came right by themselves: ${alerts.length} things`;
  }
}

function countByKind(alerts: readonly Alert[]): string[] {
  const counts = new Map<AlertKind, number>();
  for (const { kind } of alerts) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([kind, count]) => `${count} × ${kind}: ${MEANINGS[kind]}`);
}

function describe({ kind, subject }: Alert): string {
  const { amount, currency } = subject;
  const facts = [
    amount === undefined || currency === undefined ? null : formatMoney({ amount: BigInt(amount), currency }),
    named('order', subject.order_id),
    named('payment', subject.payment_id),
    named('refund', subject.refund_id),
    named('payout', subject.payout_id),
    subject.payment_id === undefined ? named('event', subject.event_id) : null,
    named('source', subject.source),
    named('dead letter', subject.dead_letter_id),
    named('invariant', subject.invariant),
    named('violations', subject.violations),
  ].filter((fact) => fact !== null);
  return `${kind}: ${MEANINGS[kind]} (${facts.join(', ')})`;
}

function named(what: string, id: string | undefined): string | null {
  return id === undefined ? null : `${what} ${id}`;
}
