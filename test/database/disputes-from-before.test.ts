import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runAudit } from '../../src/database/audit.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { facts, look } from '../support/seed.ts';

const FOLDER = new URL('../../migrations/', import.meta.url);
let db: TestDatabase;
let files: string[];
beforeAll(async () => {
  db = await createTestDatabase();
  await db.pool.query('drop schema public cascade; create schema public');
  files = (await readdir(FOLDER)).filter((name) => name.endsWith('.sql')).sort();
});
afterAll(() => db.drop());

async function migrateTo(wanted: (name: string) => boolean): Promise<void> {
  for (const name of files.filter(wanted)) await db.pool.query(await readFile(new URL(name, FOLDER), 'utf8'));
}

it('disputes that were only flags are told anew from their events, and dead letters get the history that they lacked', async () => {
  await migrateTo((name) => name < '0006');
  await db.pool.query(`
    insert into orders (id, status, currency, amount_due, amount_paid, customer_id, paid_source, paid_payment_id, paid_at, disputed, created_by)
    values ('ord_1', 'paid', 'EUR', 10000, 10000, 'cus_1', 'sim', 'pay_1', now(), true, 'test');
    insert into payments (source, payment_id, order_id, status, amount, currency, outcome)
    values ('sim', 'pay_1', 'ord_1', 'captured', 10000, 'EUR', 'marked_paid');
    insert into order_payments (source, payment_id, order_id, amount, counted_by, outcome)
    values ('sim', 'pay_1', 'ord_1', 10000, 'x', 'marked_paid');
    insert into webhook_events (source, event_id, event_type, subject, object_id, payment_id, claimed, occurred_at, body_sha256, state,
                                outcome, processed_at, payload)
    select 'sim', 'evt_' || n, 'dispute.' || claimed, 'dispute', 'dp_1', 'pay_1', claimed, '2026-11-01'::timestamptz + n * interval '1 day',
           '\\x00', 'processed', 'dispute_recorded', now(), '{"data": {"amount": 4000, "currency": "eur", "fee": 15}}'
    from (values (1, 'opened'), (2, 'lost')) as e (n, claimed);
    insert into state_transitions (machine, object_id, to_status, cause, order_id, source, payment_id)
    values ('dispute', 'dp_1', 'opened', 'sim:evt_1', 'ord_1', 'sim', 'pay_1'), ('dispute', 'dp_1', 'lost', 'sim:evt_2', 'ord_1', 'sim', 'pay_1');
    insert into dead_letters (id, kind, status, last_error, closed_at) values ('a', 'delivery_failed', 'recovered', 'x', now());
    insert into dead_letters (id, kind, status, last_error) values ('b', 'delivery_failed', 'open', 'x');
    insert into state_transitions (machine, object_id, from_status, to_status, cause) values ('dead_letter', 'b', 'open', 'decided', 'decided by x')`);
  await migrateTo((name) => name >= '0006');
  // As the relay, which hands over what asks to be looked at again.
  await look(db.pool, facts({ paymentId: 'pay_1' }));
  const { rows } = await db.pool.query('select dispute_id, order_id, status, amount, fee from disputes');
  expect(rows).toEqual([{ dispute_id: 'dp_1', order_id: 'ord_1', status: 'lost', amount: 4_000n, fee: 15n }]);
  const { violations } = await runAudit(db.pool);
  const about = /dispute|dead_letter_history|transition_has_a_name/;
  expect(violations.filter(({ invariant }) => about.test(invariant))).toEqual([]);
});
