import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createAuditDatabase } from '../../src/activities/audit-database.ts';
import { readAuditResult } from '../../src/database/audit-result.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import type { Logger } from '../../src/telemetry/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { seedOrder } from '../support/seed.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await seedOrder(database.pool, { id: 'ord_1' });
  await seedOrder(database.pool, { id: 'ord_2' });
});
afterAll(() => database.drop());
beforeEach(() => database.pool.query('truncate alerts, audit_results cascade'));

const log = { error: () => undefined } as unknown as Logger;
const audit = () => createAuditDatabase({ pool: database.pool, policies: DEFAULT_POLICIES, log })();
const breakIt = (by: number) => database.pool.query('update orders set amount_paid = $1', [by]);
const alerts = async () =>
  (await database.pool.query<{ key: string }>('select key, kind, subject, outcome from alerts order by id')).rows;

it('a database that keeps every promise raises nothing', async () => {
  await breakIt(0);
  expect(await audit()).toMatchObject({ violations: [] });
  expect(await readAuditResult(database.pool)).toMatchObject({ violations: [], checked: expect.any(Number) });
  expect(await alerts()).toEqual([]);
});

it('a broken promise is named with its count, and raised once, however often it is found', async () => {
  await breakIt(7);
  const { violations } = await audit();
  expect(violations).toEqual(
    expect.arrayContaining([{ invariant: 'order_amount_paid', requirement: expect.any(String), count: 2 }]),
  );
  await audit();
  const raised = (await alerts()).filter(({ key }) => key === 'audit:order_amount_paid');
  expect(raised).toEqual([
    {
      ...{ key: 'audit:order_amount_paid', kind: 'audit_violation', outcome: null },
      subject: { invariant: 'order_amount_paid', violations: '2' },
    },
  ]);
  expect(await readAuditResult(database.pool)).toMatchObject({ violations });
});

it('what holds again is said to be over, and raised anew when it is broken again', async () => {
  await breakIt(7);
  await audit();
  await breakIt(0);
  await audit();
  expect((await alerts()).every(({ outcome }: any) => outcome === 'recovered')).toBe(true);
  await breakIt(7);
  await audit();
  expect(
    (await alerts()).filter(({ key, outcome }: any) => key === 'audit:order_amount_paid' && outcome === null),
  ).toHaveLength(1);
});

it('the result holds names and numbers, and nobody’s rows', async () => {
  await breakIt(7);
  expect(JSON.stringify(await audit())).not.toContain('ord_');
});
