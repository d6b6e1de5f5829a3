import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPool, inTransaction } from '../../src/database/pool.ts';
import { askForService } from '../support/ask-for-service.ts';
import { startPgBouncer, type PgBouncer } from '../support/pgbouncer.ts';
import type { PostgresService } from '../support/services.ts';
import { openSystem, paymentEvent, type System } from '../support/system.ts';

const { url } = await askForService<PostgresService>('/postgres');
const started = await startPgBouncer(url);
if (typeof started === 'string') {
  process.stderr.write(`SKIPPED: the whole product behind PgBouncer in transaction mode: ${started}\n`);
}

describe.skipIf(typeof started === 'string')('behind PgBouncer in transaction mode', () => {
  const pooler = started as PgBouncer;
  let system: System;
  beforeAll(async () => {
    system = await openSystem({ through: (databaseUrl) => pooler.through(databaseUrl) });
  });
  afterAll(async () => {
    await system.close();
    await pooler.stop();
  });

  it('connections that share server connections leave nothing on them that the next one would trip over', async () => {
    const pool = createPool({ url: pooler.through(system.db.url), max: 16, applicationName: 'pooled' });
    const sums = await Promise.all(
      Array.from({ length: 400 }, (_, n) =>
        n % 2 === 0
          ? pool.query('select $1::bigint + 1 as sum', [n])
          : inTransaction(pool, (tx) => tx.query('select $1::bigint + 1 as sum', [n])),
      ),
    );
    expect(sums.map(({ rows }) => (rows as { sum: bigint }[])[0]?.sum)).toEqual(sums.map((_, n) => BigInt(n + 1)));
    expect((await pool.query('select name from pg_prepared_statements')).rows).toEqual([]);
    await pool.end();
  });

  it('orders are paid once, what is captured twice and what is asked for goes back once, and the books are clean', async () => {
    const orders = Array.from({ length: 12 }, (_, n) => `ord_${n}`);
    await Promise.all(
      orders.map(async (id) => {
        await system.order({ id });
        for (const payment of [`${id}_a`, `${id}_b`]) {
          await system.pay(payment, id);
          await system.deliver(paymentEvent(payment, id), { id: `evt_${payment}` });
          await system.deliver(paymentEvent(payment, id), { id: `evt_${payment}` });
        }
        const { paid_payment_id: kept } = await system.orderIs(id, { status: 'paid' });
        const body = { source: 'sim', payment_id: kept, amount: 4_000 };
        expect((await system.call('POST', '/v1/refunds', { body, key: `refund_${id}` })).status).toBe(201);
      }),
    );
    await system.settled();
    for (const id of orders) {
      const order = await system.orderIs(id, { status: 'paid', amount_paid: 10_000, amount_refunded: 4_000 });
      const returned = await Promise.all([`${id}_a`, `${id}_b`].map((payment) => system.refundsAtGateway(payment)));
      const amounts = returned.map((refunds) => refunds.map(({ amount }) => amount));
      expect(amounts).toEqual(order.paid_payment_id === `${id}_a` ? [[4_000], [10_000]] : [[10_000], [4_000]]);
    }
    await system.expectCleanAudit();
  });
});
