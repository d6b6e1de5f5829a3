import { auditAlertKey } from '../domain/keys.ts';
import { inTransaction, type Db, type Pool } from './pool.ts';
import { closeAlert, raiseAlert } from './raise-alert.ts';

/** What an audit came to, in names and numbers: no row of anybody's. */
export interface AuditResult {
  /** How many invariants were checked. */
  readonly checked: number;
  /** The broken ones. */
  readonly violations: readonly {
    readonly invariant: string;
    /** The rule that is broken, as docs/guarantees.md numbers them. */
    readonly requirement: string;
    /** How many rows break it; a thousand at most. */
    readonly count: number;
  }[];
}

/** Writes down what the scheduled audit found: an alert for each broken promise, once, and its end when it holds again. */
export async function saveAuditResult(pool: Pool, { checked, violations }: AuditResult): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await tx.query(
      `insert into audit_results (at, checked, violations) values (now(), $1, $2)
       on conflict (only_one) do update set at = excluded.at, checked = excluded.checked, violations = excluded.violations`,
      [checked, JSON.stringify(violations)],
    );
    const broken = violations.map(({ invariant }) => auditAlertKey(invariant));
    const { rows } = await tx.query<{ key: string }>(
      `select key from alerts where kind = 'audit_violation' and closed_at is null and key <> all($1) order by key`,
      [broken],
    );
    for (const { key } of rows) await closeAlert(tx, key);
    for (const { invariant, count } of violations) {
      const subject = { invariant, violations: String(count) };
      await raiseAlert(tx, { key: auditAlertKey(invariant), kind: 'audit_violation', subject });
    }
  });
}

/** What the scheduled audit found last, and when; null before the first. */
export async function readAuditResult(db: Db): Promise<(AuditResult & { readonly at: Date }) | null> {
  const { rows } = await db.query<AuditResult & { at: Date }>('select at, checked, violations from audit_results');
  return rows[0] ?? null;
}
