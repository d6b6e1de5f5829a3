import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAudit } from '../../src/database/audit.ts';
import { readCardPayment, recordPlacedCardPayment, type CardPaymentKind } from '../../src/database/card-payment.ts';
import { inTransaction } from '../../src/database/pool.ts';
import { reserveCharge } from '../../src/database/reserve-charge.ts';
import { reserveTopUp } from '../../src/database/reserve-top-up.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { facts, look, seedOrder } from '../support/seed.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const CARD = {
  ...{ source: 'sim', customerId: 'cus_1', paymentMethod: 'pm_1', amount: 10_000n, currency: 'EUR' },
  requestedBy: 'shop',
};

async function place(kind: CardPaymentKind, id: string, paymentId: string): Promise<void> {
  const card = await readCardPayment(db.pool, kind, id);
  if (card === null) throw new Error(`no ${kind} ${id}`);
  await recordPlacedCardPayment(db.pool, kind, card, paymentId);
}

async function row<T extends object>(sql: string, ...values: unknown[]): Promise<T | undefined> {
  return (await db.pool.query<T>(sql, values)).rows[0];
}

describe('a charge that the gateway has taken', () => {
  it('puts its order under way with it, before anybody looks at what became of it', async () => {
    await seedOrder(db.pool, { id: 'ord_under_way' });
    await inTransaction(db.pool, (tx) => reserveCharge(tx, { ...CARD, id: 'ch_under_way', orderId: 'ord_under_way' }));
    await place('charge', 'ch_under_way', 'pay_under_way');
    const status = () => row(`select status from orders where id = 'ord_under_way'`);
    expect(await status()).toEqual({ status: 'payment_pending' });
    // Again changes nothing, and what it comes to decides.
    await place('charge', 'ch_under_way', 'pay_under_way');
    await look(db.pool, facts({ paymentId: 'pay_under_way', orderId: 'ord_under_way', status: 'failed' }));
    expect(await status()).toEqual({ status: 'failed_final' });
    expect(await row(`select status from charges where id = 'ch_under_way'`)).toEqual({ status: 'failed' });
  });

  it('follows its payment also where its webhook was faster and did not name our reference', async () => {
    await seedOrder(db.pool, { id: 'ord_faster' });
    await inTransaction(db.pool, (tx) => reserveCharge(tx, { ...CARD, id: 'ch_faster', orderId: 'ord_faster' }));
    await look(db.pool, facts({ paymentId: 'pay_faster', orderId: 'ord_faster' }));
    expect(await row(`select status from charges where id = 'ch_faster'`)).toEqual({ status: 'pending' });
    await place('charge', 'ch_faster', 'pay_faster');
    await look(db.pool, facts({ paymentId: 'pay_faster', orderId: 'ord_faster' }));
    expect(await row(`select status, payment_id from charges where id = 'ch_faster'`)).toEqual({
      ...{ status: 'succeeded', payment_id: 'pay_faster' },
    });
    expect(await row(`select status, amount_paid from orders where id = 'ord_faster'`)).toEqual({
      ...{ status: 'paid', amount_paid: 10_000n },
    });
  });
});

describe('a top-up that the gateway has taken', () => {
  it('fills its wallet once also where its webhook was faster and did not name our reference', async () => {
    await inTransaction(db.pool, (tx) => reserveTopUp(tx, { ...CARD, id: 'tu_faster', walletId: 'wal_faster' }));
    await look(db.pool, facts({ paymentId: 'pay_top_up', orderId: null, status: 'pending' }));
    await place('top_up', 'tu_faster', 'pay_top_up');
    for (let again = 0; again < 2; again += 1) await look(db.pool, facts({ paymentId: 'pay_top_up', orderId: null }));
    expect(await row(`select status from top_ups where id = 'tu_faster'`)).toEqual({ status: 'succeeded' });
    expect(await row(`select balance from wallets where id = 'wal_faster'`)).toEqual({ balance: 10_000n });
    expect((await runAudit(db.pool)).violations).toEqual([]);
  });
});

describe('a payment that its webhook and the answer to our own call find new in the same instant', () => {
  const NEW = `insert into payments (source, payment_id, status, amount, currency, outcome, purpose)
               values ('sim', $1, $2, 10000, 'EUR', 'pending', 'top_up')`;

  /** Does the work while another transaction has the payment's row, which nobody sees yet, and commits it when the work waits for it. */
  async function beside(paymentId: string, status: string, work: () => Promise<unknown>): Promise<unknown> {
    const other = await db.pool.connect();
    try {
      await other.query('begin');
      await other.query(NEW, [paymentId, status]);
      const outcome = work().then(
        () => 'done',
        (error: unknown) => (error as Error).message,
      );
      await eventually('it waits for the other one', () =>
        row(`select 1 as yes from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`),
      );
      await other.query('commit');
      return await outcome;
    } finally {
      other.release();
    }
  }

  it('is not written over by the later one, which is repeated and finds it', async () => {
    await inTransaction(db.pool, (tx) => reserveTopUp(tx, { ...CARD, id: 'tu_race', walletId: 'wal_race' }));
    const status = (id: string) => row('select status from payments where payment_id = $1', id);
    const answer = await beside('pay_race_1', 'captured', () => place('top_up', 'tu_race', 'pay_race_1'));
    expect(answer).toContain('became known meanwhile');
    expect(await status('pay_race_1')).toEqual({ status: 'captured' });
    await place('top_up', 'tu_race', 'pay_race_1');
    expect(await status('pay_race_1')).toEqual({ status: 'captured' });
    const reference = 'top_up:tu_race';
    const shown = facts({ paymentId: 'pay_race_2', orderId: null, reference });
    expect(await beside('pay_race_2', 'pending', () => look(db.pool, shown))).toContain('became known meanwhile');
    expect(await status('pay_race_2')).toEqual({ status: 'pending' });
    expect(await row(`select balance from wallets where id = 'wal_race'`)).toEqual({ balance: 0n });
  });
});
