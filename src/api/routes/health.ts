import { readAuditResult } from '../../database/audit-result.ts';
import { alertsAreLate } from '../../database/find-alerts.ts';
import { inboxLagMs } from '../../database/inbox-lag.ts';
import { migrationsCurrent } from '../../database/migrations-current.ts';
import type { ApiDeps } from '../deps.ts';
import { defineRoute, json } from '../route.ts';
import { health, readiness } from '../schemas/operations.ts';
import { within } from '../within.ts';

/** Whoever asks asks every few seconds; an answer that comes later is none. */
const CHECK_MS = 1_500;
/** The relay sweeps several times a second; an event that waits this long says that it does not. */
const LAG_LIMIT_MS = 30_000;

export const getHealth = defineRoute({
  method: 'GET',
  path: '/healthz',
  scope: null,
  summary: 'The process is alive.',
  answers: { 200: { description: 'It is.', schema: health } },
  handle: () => json(200, { status: 'ok' }),
});

export const getReadiness = defineRoute({
  method: 'GET',
  path: '/readyz',
  scope: null,
  summary: 'Deliveries can be stored: the database answers and its migrations are current.',
  answers: {
    200: { description: 'Ready; the rest is named and never makes it 503.', schema: readiness },
    503: { description: 'Not ready.', schema: readiness },
  },
  async handle(deps) {
    const [migrations, lag, temporal, late, audited] = await Promise.all([
      check(async () => migrationsCurrent(deps.pool)),
      check(async () => inboxLagMs(deps.pool)),
      check(async () => temporalAnswers(deps)),
      check(async () => alertsAreLate(deps.pool, deps.alertChannels)),
      check(async () => readAuditResult(deps.pool)),
    ]);
    const ready = migrations === true;
    const broken = audited?.violations ?? [];
    return json(ready ? 200 : 503, {
      status: ready ? 'ok' : 'unavailable',
      database: migrations === null ? 'unavailable' : 'ok',
      migrations: migrations === null ? 'unknown' : migrations ? 'ok' : 'missing',
      temporal: grade(temporal === true),
      relay: grade(lag !== null && lag < LAG_LIMIT_MS),
      mail: grade(deps.mailConfigured),
      alerts: grade(late === false),
      audit: grade(broken.length === 0),
      audit_violations: broken.map(({ invariant }) => invariant),
      alert_channels: [...deps.alertChannels],
    });
  },
});

async function check<T>(work: () => Promise<T>): Promise<T | null> {
  return within(Date.now() + CHECK_MS, work).catch(() => null);
}

async function temporalAnswers({ temporal }: Pick<ApiDeps, 'temporal'>): Promise<boolean> {
  const { namespace } = temporal.options;
  await temporal.withDeadline(Date.now() + CHECK_MS, () => temporal.workflowService.describeNamespace({ namespace }));
  return true;
}

function grade(fine: boolean): 'ok' | 'degraded' {
  return fine ? 'ok' : 'degraded';
}
