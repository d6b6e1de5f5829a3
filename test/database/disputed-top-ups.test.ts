import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAudit } from '../../src/database/audit.ts';
import { inTransaction } from '../../src/database/pool.ts';
import { reserveTopUp } from '../../src/database/reserve-top-up.ts';
import type { DisputeStatus } from '../../src/domain/event-reading.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { facts, look, refundFacts } from '../support/seed.ts';
import { tellDispute } from '../support/seed-disputes.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

type Looked = Parameters<typeof look>[2];
const REVOKE = { policies: { disputeLost: 'revoke' } } as const;
let made = 0;

/** A top-up of 100.00 EUR that is asked for, and what can happen to it. */
async function topUp() {
  made += 1;
  const id = `tu_${made}`;
  const card = { source: 'sim', customerId: 'cus_1', paymentMethod: 'pm_1', amount: 10_000n, currency: 'EUR' };
  await inTransaction(db.pool, (tx) => reserveTopUp(tx, { ...card, id, walletId: `wal_${made}`, requestedBy: 'test' }));
  const paymentId = `pay_${id}`;
  const walletId = `wal_${made}`;
  const see = async (more: Looked = REVOKE, amountRefunded = 0n) => {
    await look(db.pool, facts({ paymentId, orderId: null, reference: `top_up:${id}`, amountRefunded }), more);
  };
  return {
    paymentId,
    captured: see,
    async disputed(status: DisputeStatus, more: { minute: number; amount?: bigint }, looked: Looked = REVOKE) {
      await tellDispute(db.pool, { paymentId, disputeId: `dp_${id}`, status, ...more });
      await see(looked);
    },
    async refunded(amount: bigint) {
      await see({ ...REVOKE, refunds: [refundFacts({ refundId: `rf_${id}`, paymentId, amount })] }, amount);
    },
    /** What the wallet holds, what its customer owes, and what is lost to the merchant. */
    async stands() {
      const { rows } = await db.pool.query<object>(
        `select (select balance::int from wallets where id = $2) as wallet,
                coalesce(sum(signed) filter (where account = 'wallet_shortfall'), 0)::int as owed,
                coalesce(sum(signed) filter (where account = 'chargeback_losses'), 0)::int as lost
         from (select account, case side when 'debit' then amount else -amount end as signed
               from ledger_entries where payment_id = $1) e`,
        [paymentId, walletId],
      );
      return rows[0];
    },
  };
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, at) => permutations(items.toSpliced(at, 1)).map((rest) => [item, ...rest]));
}

describe('by the policy to revoke, a lost dispute of a top-up', () => {
  it('takes its amount out of the wallet, once, in every order of events', async () => {
    for (const order of permutations(['captured', 'opened', 'lost'] as const)) {
      const one = await topUp();
      for (const step of [...order, ...order]) {
        if (step === 'captured') await one.captured();
        else await one.disputed(step, { minute: step === 'lost' ? 2 : 1, amount: 4_000n });
      }
      expect(await one.stands(), order.join()).toEqual({ wallet: 6_000, owed: 0, lost: 0 });
    }
  });

  it('never takes more than is there: the rest is owed by the customer', async () => {
    const one = await topUp();
    await one.captured();
    await one.refunded(7_000n);
    await one.disputed('lost', { minute: 1 });
    expect(await one.stands()).toEqual({ wallet: 0, owed: 7_000, lost: 0 });
  });

  it('and is won after all puts back what it took, once, and forgives what was owed', async () => {
    const one = await topUp();
    await one.captured();
    await one.refunded(7_000n);
    await one.disputed('lost', { minute: 1 });
    for (const _ of [1, 2]) await one.disputed('won', { minute: 2 });
    expect(await one.stands()).toEqual({ wallet: 3_000, owed: 0, lost: 0 });
    await one.disputed('lost', { minute: 3 });
    expect(await one.stands()).toEqual({ wallet: 0, owed: 7_000, lost: 0 });
    await one.disputed('won', { minute: 4 });
    expect(await one.stands()).toEqual({ wallet: 3_000, owed: 0, lost: 0 });
  });

  it('follows the amount that the gateway corrects, up and down', async () => {
    const one = await topUp();
    await one.captured();
    await one.refunded(7_000n);
    for (const [minute, amount, wallet, owed] of [
      [1, 2_000n, 1_000, 0],
      [2, 5_000n, 0, 2_000],
      [3, 4_000n, 0, 1_000],
      [4, 1_000n, 2_000, 0],
    ] as const) {
      await one.disputed('lost', { minute, amount });
      expect(await one.stands()).toEqual({ wallet, owed, lost: 0 });
    }
    await one.disputed('won', { minute: 5, amount: 1_000n });
    expect(await one.stands()).toEqual({ wallet: 3_000, owed: 0, lost: 0 });
  });
});

it('by the policy to keep, a lost dispute of a top-up is a loss, and the wallet keeps the money', async () => {
  const one = await topUp();
  const keep = { policies: { disputeLost: 'keep' } } as const;
  await one.captured(keep);
  await one.disputed('lost', { minute: 1 }, keep);
  // The policy of the day on which it was lost.
  await one.disputed('lost', { minute: 1 });
  expect(await one.stands()).toEqual({ wallet: 10_000, owed: 0, lost: 10_000 });
});

it('a lost dispute of a payment that filled no wallet leaves all wallets alone', async () => {
  const one = await topUp();
  await one.disputed('lost', { minute: 1 });
  await look(db.pool, facts({ paymentId: 'pay_of_nothing', orderId: null }), REVOKE);
  await tellDispute(db.pool, { paymentId: 'pay_of_nothing', disputeId: 'dp_of_nothing', status: 'lost' });
  await look(db.pool, facts({ paymentId: 'pay_of_nothing', orderId: null }), REVOKE);
  const { rows } = await db.pool.query<object>(
    `select sum(charged_back)::int as n from disputes where payment_id = 'pay_of_nothing'`,
  );
  expect(rows).toEqual([{ n: 0 }]);
});

it('after all of this the audit finds nothing of wallets and disputes to say', async () => {
  const { violations } = await runAudit(db.pool);
  // Events were written by the test, without deliveries.
  expect(violations.filter(({ invariant }) => invariant !== 'event_was_delivered')).toEqual([]);
});
