import { runAudit } from '../database/audit.ts';
import { type AuditResult, saveAuditResult } from '../database/audit-result.ts';
import type { Dependencies } from './dependencies.ts';

/** Checks every promise on the whole database, writes down what was found, and has people told of what is broken. */
export function createAuditDatabase({ pool, policies, log }: Pick<Dependencies, 'pool' | 'policies' | 'log'>) {
  return async function auditDatabase(): Promise<AuditResult> {
    const { checked, violations } = await runAudit(pool, policies);
    const counts = new Map<string, AuditResult['violations'][number]>();
    for (const { invariant, requirement } of violations) {
      const count = (counts.get(invariant)?.count ?? 0) + 1;
      counts.set(invariant, { invariant, requirement, count });
    }
    const result = { checked, violations: [...counts.values()] };
    await saveAuditResult(pool, result);
    for (const violation of result.violations)
      log.error(violation, 'a promise is broken: npx paidonce audit names the rows');
    return result;
  };
}
