import { readAuditResult } from '../../database/audit-result.ts';
import { defineRoute } from '../route.ts';
import { within } from '../within.ts';

/** Whoever reads the counts must have them while PostgreSQL is away, too. */
const AUDIT_WAIT_MS = 1_000;

export const getMetrics = defineRoute({
  method: 'GET',
  path: '/metrics',
  scope: null,
  summary: "This process's counts, for Prometheus.",
  answers: { 200: { description: 'Text as Prometheus reads it.', schema: null } },
  async handle({ metrics: { registry, auditViolations }, pool }) {
    // Any worker may have run the audit; what it found stands in PostgreSQL.
    const audited = await within(Date.now() + AUDIT_WAIT_MS, () => readAuditResult(pool)).catch(() => null);
    auditViolations.reset();
    for (const { invariant, count } of audited?.violations ?? []) auditViolations.set({ invariant }, count);
    return { status: 200, headers: { 'content-type': registry.contentType }, body: await registry.metrics() };
  },
});
