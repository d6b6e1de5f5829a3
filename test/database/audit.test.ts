import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditIn, checksOf, runAudit } from '../../src/database/audit.ts';
import { BREACHES_OF_AUTHORIZATIONS } from '../support/breaches-of-authorizations.ts';
import { BREACHES_OF_DISPUTES } from '../support/breaches-of-disputes.ts';
import { BREACHES_OF_DELIVERIES } from '../support/breaches-of-deliveries.ts';
import { BREACHES_OF_MONEY } from '../support/breaches-of-money.ts';
import { BREACHES_OF_MOVES } from '../support/breaches-of-moves.ts';
import { BREACHES_OF_RECORDS } from '../support/breaches-of-records.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { seedStorm } from '../support/seed-storm.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await seedStorm(db.pool);
});
afterAll(() => db.drop());

/** What the audit says after the statements, which stay in a transaction that is rolled back. */
async function auditAfter(...statements: string[]) {
  const tx = await db.pool.connect();
  try {
    await tx.query('begin');
    // Triggers and foreign keys would refuse most of these.
    await tx.query('set local session_replication_role = replica');
    for (const statement of statements) {
      const done = await tx.query(statement);
      if (done.rowCount === 0) throw new Error(`Nothing was changed by: ${statement}`);
    }
    return await auditIn(tx);
  } finally {
    await tx.query('rollback');
    tx.release();
  }
}

const BREACHES = [
  ...[...BREACHES_OF_MONEY, ...BREACHES_OF_MOVES, ...BREACHES_OF_DISPUTES],
  ...[...BREACHES_OF_AUTHORIZATIONS, ...BREACHES_OF_RECORDS, ...BREACHES_OF_DELIVERIES],
];

describe('the audit', () => {
  it('finds nothing after a storm of which every state was brought about by the product itself', async () => {
    const report = await runAudit(db.pool);
    expect(report.violations).toEqual([]);
    expect(report).toMatchObject({ ok: true });
    expect(report.checked).toBeGreaterThan(50);
  });

  it('finds nothing on an empty database', async () => {
    const empty = await createTestDatabase();
    try {
      expect(await runAudit(empty.pool)).toMatchObject({ ok: true, violations: [] });
    } finally {
      await empty.drop();
    }
  });

  for (const [invariant, ids, ...statements] of BREACHES) {
    it(`names a breach of ${invariant}: ${statements.at(-1)}`, async () => {
      const report = await auditAfter(...statements);
      expect(report.ok).toBe(false);
      const named = report.violations.filter((violation) => violation.invariant === invariant);
      expect(named).toContainEqual(expect.objectContaining({ invariant, ...ids }));
    });
  }

  it('is seen to find a breach of every invariant that it checks', () => {
    const checked = checksOf([]).map(({ invariant }) => invariant);
    expect([...new Set(BREACHES.map(([invariant]) => invariant))].sort()).toEqual(checked.toSorted());
  });

  it('judges loyalty points by the rate at which they were earned, whatever the policy is today', async () => {
    expect((await runAudit(db.pool, { loyaltyPointsPerMajorUnit: 7 })).violations).toEqual([]);
  });

  it('judges the points of orders that keep no rate by that of the policy', async () => {
    const forgotten = await auditAfter(
      `update orders set loyalty_rate = null where id in ('ord_full', 'ord_half_points')`,
    );
    expect(forgotten.violations).toEqual([
      expect.objectContaining({ invariant: 'loyalty_standing', order_id: 'ord_half_points' }),
    ]);
  });
});
