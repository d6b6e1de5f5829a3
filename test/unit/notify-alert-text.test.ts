import { expect, it } from 'vitest';
import type { AlertKind } from '../../src/domain/plan-alerts.ts';
import { alertText } from '../../src/notify/alerts/alert-text.ts';

const told = (...kinds: AlertKind[]) =>
  alertText({ type: 'raised', alerts: kinds.map((kind, n) => ({ id: String(n), kind, subject: { source: 'sim' } })) });

it.each([
  [['refund_failed', 'outcome_unknown'], 'See: npx paidonce dead-letters list'],
  [['audit_violation'], 'See: npx paidonce audit'],
  [['events_not_listed'], 'See: npx paidonce reconcile'],
  [['refund_failed', 'audit_violation', 'refund_failed'], 'See: npx paidonce dead-letters list, npx paidonce audit'],
] as const)('an alert about %j says by which command it is seen', (kinds, line) => {
  expect(told(...kinds).lines.at(-1)).toBe(line);
});
