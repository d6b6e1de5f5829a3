import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decideDeadLetter } from '../../src/database/decide-dead-letter.ts';
import { giveUpMove } from '../../src/database/give-up-move.ts';
import { readMoneyMove } from '../../src/database/money-move.ts';
import { inTransaction } from '../../src/database/pool.ts';
import { readPayout } from '../../src/database/read-payout.ts';
import { reservePayout } from '../../src/database/reserve-payout.ts';
import { reserveRefund } from '../../src/database/reserve-refund.ts';
import { settlePayout } from '../../src/database/settle-payout.ts';
import { ANNOUNCEMENT_TYPES, announcedData, isAnnouncementType } from '../../src/domain/announcement-types.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { facts, look, seedOrder } from '../support/seed.ts';
import { seedStorm } from '../support/seed-storm.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

interface Announced {
  readonly event_type: string;
  readonly aggregate_id: string;
  readonly aggregate_version: bigint;
  readonly payload: Record<string, unknown>;
}

async function announced(where = 'true', ...values: unknown[]): Promise<Announced[]> {
  const { rows } = await db.pool.query<Announced>(`select * from outbox where ${where} order by id`, values);
  return rows.filter(({ event_type }) => isAnnouncementType(event_type));
}

/** Where a payment has no order there is none to name, and a line may have no reference. */
const MAY_BE_ABSENT = new Set(['order_id', 'reference']);

describe('what is announced', () => {
  it('carries every member that its type names, once for each thing that happened', async () => {
    await seedStorm(db.pool);
    const all = await announced();
    const seen = new Set(all.map(({ event_type }) => event_type));
    // Disputes have a store of their own.
    for (const type of Object.keys(ANNOUNCEMENT_TYPES).filter((name) => !name.startsWith('dispute.')))
      expect([...seen]).toContain(type);
    for (const { event_type, payload } of all) {
      if (!isAnnouncementType(event_type)) continue;
      const data = announcedData(event_type, payload);
      const missing = Object.keys(ANNOUNCEMENT_TYPES[event_type].data).filter((field) => !(field in data));
      expect(
        missing.filter((field) => !MAY_BE_ABSENT.has(field)),
        `${event_type} ${JSON.stringify(payload)}`,
      ).toEqual([]);
    }
    const versions = all.map(({ aggregate_id, aggregate_version }) => `${aggregate_id} ${aggregate_version}`);
    expect(versions.filter((one, at) => versions.indexOf(one) !== at)).toEqual([]);
  });

  it('has a version that grows where no order gives one: a payout that comes back after it was paid', async () => {
    const { id } = await inTransaction(db.pool, (tx) =>
      reservePayout(tx, {
        ...{ mode: 'test', source: 'sim', sellerId: 'seller_back', settlementDate: '2026-11-30' },
        ...{ amount: 5_000n, currency: 'EUR', destination: 'acct_1', requestedBy: 'test' },
      }),
    );
    const payout = await readPayout(db.pool, id);
    if (payout === null) throw new Error('The payout was reserved.');
    await inTransaction(db.pool, (tx) => settlePayout(tx, payout, 'succeeded', null));
    await inTransaction(db.pool, (tx) => settlePayout(tx, { ...payout, status: 'succeeded' }, 'failed', null));
    const told = await announced('aggregate_id = $1', `payout:${id}`);
    expect(told.map(({ event_type }) => event_type)).toEqual(['payout.paid', 'payout.failed']);
    expect(told[1]?.aggregate_version).toBeGreaterThan(told[0]?.aggregate_version ?? 0n);
  });

  it('says once that a refund failed, though a person confirms later what the gateway had said', async () => {
    await seedOrder(db.pool, { id: 'ord_told_once' });
    await look(db.pool, facts({ paymentId: 'pay_told_once', orderId: 'ord_told_once' }));
    const request = { id: 'rf_told_once', source: 'sim', paymentId: 'pay_told_once', amount: 3_000n };
    await inTransaction(db.pool, (tx) => reserveRefund(tx, { ...request, reason: null, requestedBy: 'shop' }));
    const move = await readMoneyMove(db.pool, 'refund', 'rf_told_once');
    if (move === null) throw new Error('The refund was reserved.');
    await giveUpMove(db.pool, move, 'rejected', { code: 'insufficient_balance', message: 'no' });
    const failures = () => announced(`event_type = 'refund.failed' and payload->>'refund_id' = 'rf_told_once'`);
    expect(await failures()).toHaveLength(1);
    const decision = {
      action: 'resolve',
      note: 'seen there',
      outcome: 'failed',
      gatewayId: null,
      by: 'support',
    } as const;
    const deadLetterId = 'refund_failed:rf_told_once';
    expect(await decideDeadLetter(db.pool, { deadLetterId, ...decision }, DEFAULT_POLICIES)).toEqual({
      result: 'decided',
    });
    expect(await failures()).toHaveLength(1);
  });
});
