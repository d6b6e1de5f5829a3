import type { DatabaseError, PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ORDER_STATUSES } from '../../src/domain/order-states.ts';
import { PAYMENT_STATUSES } from '../../src/domain/payment-states.ts';
import { REFUND_STATUSES } from '../../src/domain/refund-states.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

/** What PostgreSQL itself refuses, whatever the code above it does: the last line, and the permanent memory. */

let db: TestDatabase;
let tx: PoolClient;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
// Each test writes inside a transaction that is never committed, so that all start from the same rows.
beforeEach(async () => {
  tx = await db.pool.connect();
  await tx.query('begin');
  await tx.query(`
    insert into orders (id, status, currency, amount_due, customer_id, created_by)
      values ('ord_1', 'pending_payment', 'EUR', 10000, 'cus_1', 'test'), ('ord_2', 'pending_payment', 'EUR', 10000, 'cus_1', 'test');
    insert into order_lines (order_id, id, position, kind, amount) values ('ord_1', 'l1', 0, 'booking', 10000)`);
});
afterEach(async () => {
  await tx.query('rollback');
  tx.release();
});

const UNIQUE = '23505';
const CHECK = '23514';
const FOREIGN = '23503';
const NOT_NULL = '23502';
const APPEND_ONLY = '23000';

/** The statement is refused with that SQLSTATE, and by that constraint where one is named; the transaction goes on. */
async function refused(sqlState: string, statement: string, constraint?: string): Promise<void> {
  await tx.query('savepoint before');
  const error = await tx.query(statement).then(
    () => null,
    (reason: unknown) => reason as DatabaseError,
  );
  await tx.query('rollback to savepoint before');
  expect(error, `accepted: ${statement}`).not.toBeNull();
  expect(error?.code, error?.message).toBe(sqlState);
  if (constraint !== undefined) expect(error?.constraint, error?.message).toBe(constraint);
}

async function accepted(statement: string): Promise<void> {
  await tx.query(statement);
}

const counts = (paymentId: string, orderId: string, source = 'sim', amount = 10_000) =>
  `insert into order_payments (source, payment_id, order_id, amount, counted_by, outcome)
   values ('${source}', '${paymentId}', '${orderId}', ${amount}, 'test', 'marked_paid')`;

const refund = (
  id: string,
  kind: string,
  more: { paymentId?: string; source?: string; amount?: number; status?: string } = {},
) =>
  `insert into refunds (id, source, payment_id, kind, status, amount, currency)
   values ('${id}', '${more.source ?? 'sim'}', '${more.paymentId ?? 'pay_1'}', '${kind}', '${more.status ?? 'pending'}',
           ${more.amount ?? 10_000}, 'EUR')`;

describe('a payment that counts', () => {
  it('counts once: for the same order not again, and for no other', async () => {
    await accepted(counts('pay_1', 'ord_1'));
    await refused(UNIQUE, counts('pay_1', 'ord_1'), 'order_payments_pkey');
    await refused(UNIQUE, counts('pay_1', 'ord_2'), 'order_payments_pkey');
  });

  it('of one account is another than the payment of the same name of another account', async () => {
    await accepted(counts('pay_1', 'ord_1', 'sim'));
    await accepted(counts('pay_1', 'ord_1', 'other'));
  });

  it('counts something, for an order that exists', async () => {
    await refused(CHECK, counts('pay_1', 'ord_1', 'sim', 0));
    await refused(CHECK, counts('pay_1', 'ord_1', 'sim', -1));
    await refused(FOREIGN, counts('pay_1', 'ord_9'));
  });
});

describe('a refund that the machine gives', () => {
  it.each([
    ['extra_capture', 'extra_capture'],
    ['extra_capture', 'late_capture'],
    ['late_capture', 'extra_capture'],
    ['late_capture', 'late_capture'],
  ])(
    'is one for a payment, ever: after %s no %s, under whatever id, and not after it has failed either',
    async (a, b) => {
      for (const status of REFUND_STATUSES) {
        await tx.query('savepoint one');
        await accepted(refund('r_1', a, { status }));
        await refused(UNIQUE, refund('r_2', b), 'refunds_one_automatic');
        await tx.query('rollback to savepoint one');
      }
    },
  );

  it('stands beside refunds that others asked for, which may be several of the same amount', async () => {
    await accepted(refund('r_1', 'extra_capture'));
    for (const id of ['r_2', 'r_3']) await accepted(refund(id, 'requested'));
    for (const id of ['r_4', 'r_5']) await accepted(refund(id, 'gateway'));
    await accepted(refund('r_6', 'extra_capture', { source: 'other' }));
    await accepted(refund('r_7', 'extra_capture', { paymentId: 'pay_2' }));
  });

  it("is one row for a reference of ours, and one for a gateway's refund", async () => {
    const other = (id: string, column: string) =>
      `insert into refunds (id, source, payment_id, kind, status, amount, currency, ${column})
       values ('${id}', 'sim', 'pay_1', 'gateway', 'succeeded', 1, 'EUR', 'rf_1')`;
    await accepted(other('r_1', 'reference'));
    await refused(UNIQUE, other('r_2', 'reference'), 'refunds_reference_key');
    await accepted(other('r_3', 'gateway_refund_id'));
    await refused(UNIQUE, other('r_4', 'gateway_refund_id'), 'refunds_source_gateway_refund_id_key');
    await refused(UNIQUE, refund('r_1', 'requested'), 'refunds_pkey');
  });
});

type Line = readonly [account: string, side: 'debit' | 'credit', amount: number, currency?: string, key?: string];
const post = (...lines: readonly Line[]) =>
  `insert into ledger_entries (source_event_id, account, side, amount, currency) values ${lines
    .map(
      ([account, side, amount, currency = 'EUR', key = 'k1']) =>
        `('${key}', '${account}', '${side}', ${amount}, '${currency}')`,
    )
    .join(', ')}`;

describe('the ledger', () => {
  it('takes a posting that is balanced', async () => {
    await accepted(post(['gateway', 'debit', 10_000], ['sales', 'credit', 7_000], ['deposits', 'credit', 3_000]));
  });

  it.each<[string, Line[]]>([
    [
      'more debited than credited',
      [
        ['gateway', 'debit', 10_000],
        ['sales', 'credit', 9_999],
      ],
    ],
    ['one side alone', [['gateway', 'debit', 10_000]]],
    [
      'the same sum in two currencies',
      [
        ['gateway', 'debit', 100, 'EUR'],
        ['sales', 'credit', 100, 'USD'],
      ],
    ],
    [
      'two postings that are balanced only together',
      [
        ['gateway', 'debit', 100, 'EUR', 'k1'],
        ['sales', 'credit', 100, 'EUR', 'k2'],
      ],
    ],
    [
      'one that is balanced beside one that is not',
      [
        ['a', 'debit', 1],
        ['b', 'credit', 1],
        ['a', 'debit', 1, 'EUR', 'k2'],
        ['b', 'credit', 2, 'EUR', 'k2'],
      ],
    ],
  ])('refuses %s', async (_, lines) => {
    await refused(CHECK, post(...lines));
  });

  it('refuses half a posting now and half later', async () => {
    await refused(CHECK, post(['gateway', 'debit', 100]));
    await refused(CHECK, post(['sales', 'credit', 100]));
  });

  it('refuses the same business event a second time', async () => {
    const captured = post(['gateway', 'debit', 100], ['sales', 'credit', 100]);
    await accepted(captured);
    await refused(UNIQUE, captured, 'ledger_entries_source_event_id_account_side_key');
  });

  it('changes and forgets nothing, for whoever asks and whether or not a line is met', async () => {
    await accepted(post(['gateway', 'debit', 100], ['sales', 'credit', 100]));
    await refused(APPEND_ONLY, 'update ledger_entries set amount = 200');
    await refused(APPEND_ONLY, `update ledger_entries set account = 'mine' where side = 'credit'`);
    await refused(APPEND_ONLY, 'delete from ledger_entries');
    await refused(APPEND_ONLY, 'delete from ledger_entries where false');
    await refused(
      APPEND_ONLY,
      `${post(['gateway', 'debit', 100], ['sales', 'credit', 100])} on conflict (source_event_id, account, side) do update set amount = 1`,
    );
  });

  it('moves amounts above zero only, on a side that it knows', async () => {
    await refused(CHECK, post(['gateway', 'debit', 0], ['sales', 'credit', 0]));
    await refused(CHECK, post(['gateway', 'debit', -100], ['sales', 'credit', -100]));
    await refused(CHECK, post(['gateway', 'sideways' as 'debit', 100]));
  });
});

describe('a paid order', () => {
  const paid = (set: string) => `update orders set status = 'paid', ${set} where id = 'ord_1'`;
  const BY_PAYMENT = `paid_at = now(), paid_source = 'sim', paid_payment_id = 'pay_1'`;

  it('has its money', async () => {
    await accepted(paid(`amount_paid = 10000, ${BY_PAYMENT}`));
    await refused(CHECK, `update orders set amount_paid = 9999 where id = 'ord_1'`);
    await refused(CHECK, `update orders set amount_due = 10001 where id = 'ord_1'`);
  });

  it('is none without money, with too little of it, without the payment or without the time', async () => {
    await refused(CHECK, paid(BY_PAYMENT));
    await refused(CHECK, paid(`amount_paid = 9999, ${BY_PAYMENT}`));
    await refused(CHECK, paid(`amount_paid = 10000, paid_at = now(), paid_source = 'sim'`));
    await refused(CHECK, paid(`amount_paid = 10000, paid_source = 'sim', paid_payment_id = 'pay_1'`));
  });
});

describe('a consequence', () => {
  const invoice = (kind: string, refundId: string | null, orderId = 'ord_1') =>
    `insert into invoices (order_id, kind, amount, currency, refund_id)
     values ('${orderId}', '${kind}', 10000, 'EUR', ${refundId === null ? 'null' : `'${refundId}'`})`;
  const points = (refundId: string | null, change: string | null, value = 100) =>
    `insert into loyalty_entries (order_id, customer_id, source, payment_id, refund_id, refund_change, points)
     values ('ord_1', 'cus_1', 'sim', 'pay_1', ${refundId === null ? 'null' : `'${refundId}'`},
             ${change === null ? 'null' : `'${change}'`}, ${value})`;

  it('is one invoice for an order', async () => {
    await accepted(invoice('invoice', null));
    await refused(UNIQUE, invoice('invoice', null), 'invoices_one_per_order');
    await accepted(invoice('invoice', null, 'ord_2'));
  });

  it('is one credit note for a refund, and a credit note has a refund', async () => {
    await accepted(invoice('credit_note', 'r_1'));
    await refused(UNIQUE, invoice('credit_note', 'r_1'), 'invoices_one_per_refund');
    await accepted(invoice('credit_note', 'r_2'));
    await refused(CHECK, invoice('credit_note', null));
    await refused(CHECK, invoice('invoice', 'r_3'));
  });

  it('is one booking for a line, of a line that exists', async () => {
    const booking = (line: string, status = 'confirmed') =>
      `insert into bookings (order_id, line_id, kind, status) values ('ord_1', '${line}', 'booking', '${status}')`;
    await accepted(booking('l1'));
    await refused(UNIQUE, booking('l1'), 'bookings_pkey');
    await refused(UNIQUE, booking('l1', 'cancelled'), 'bookings_pkey');
    await refused(FOREIGN, booking('l9'));
  });

  it('is one earning for a payment, and one entry for each change of a refund', async () => {
    await accepted(points(null, null));
    await refused(UNIQUE, points(null, null));
    await refused(UNIQUE, points(null, null, 1));
    await accepted(points('r_1', 'succeeded', -100));
    await refused(UNIQUE, points('r_1', 'succeeded', -100));
    await accepted(points('r_1', 'returned'));
    await refused(UNIQUE, points('r_1', 'returned'));
  });

  it('is one gift card and one package for each unit of a line', async () => {
    const card = (unit: number, amount = 5_000, remaining = amount) =>
      `insert into gift_cards (order_id, line_id, unit, amount, remaining, currency, status)
       values ('ord_1', 'l1', ${unit}, ${amount}, ${remaining}, 'EUR', 'active')`;
    const pack = (unit: number) =>
      `insert into packages (order_id, line_id, unit, status) values ('ord_1', 'l1', ${unit}, 'active')`;
    for (const unit of [1, 2]) {
      await accepted(card(unit));
      await accepted(pack(unit));
    }
    await refused(UNIQUE, card(2), 'gift_cards_pkey');
    await refused(UNIQUE, pack(2), 'packages_pkey');
    await refused(CHECK, card(3, 5_000, 5_001));
    await refused(CHECK, card(3, 5_000, -1));
  });
});

describe('what was acted on', () => {
  const gate = (consumer: string, eventId: string, outcome: string | null = 'marked_paid') =>
    `insert into processed_events (consumer, event_id, outcome)
     values ('${consumer}', '${eventId}', ${outcome === null ? 'null' : `'${outcome}'`})`;

  it('has one gate for a consumer and event, and a gate has an outcome', async () => {
    await accepted(gate('payments', 'sim:evt_1'));
    await refused(UNIQUE, gate('payments', 'sim:evt_1'), 'processed_events_pkey');
    await refused(UNIQUE, gate('payments', 'sim:evt_1', 'extra_payment'), 'processed_events_pkey');
    await accepted(gate('mail', 'sim:evt_1'));
    await accepted(gate('payments', 'other:evt_1'));
    await refused(NOT_NULL, gate('payments', 'sim:evt_2', null));
  });

  it('was received once: an event of an account has one row', async () => {
    const event = (source: string, state = 'pending') =>
      `insert into webhook_events (source, event_id, event_type, body_sha256, state)
       values ('${source}', 'evt_1', 'payment.captured', '\\x00', '${state}')`;
    await accepted(event('sim'));
    await refused(UNIQUE, event('sim', 'processed'), 'webhook_events_pkey');
    await accepted(event('other'));
  });

  it('was asked once: a key of a scope has one row, and a completed one has its answer', async () => {
    const key = (scope: string, status: string, code: number | null, body: string | null) =>
      `insert into idempotency_keys (scope, key, request_hash, status, response_code, response_body, leased_until)
       values ('${scope}', 'k', '\\x00', '${status}', ${code ?? 'null'}, ${body === null ? 'null' : `'${body}'`}, now())`;
    await accepted(key('a', 'in_progress', null, null));
    await refused(UNIQUE, key('a', 'completed', 201, '{}'), 'idempotency_keys_pkey');
    await accepted(key('b', 'completed', 201, '{}'));
    await refused(CHECK, key('c', 'completed', null, '{}'));
    await refused(CHECK, key('c', 'completed', 201, null));
  });
});

describe('an amount', () => {
  const order = (set: string) => `update orders set ${set} where id = 'ord_1'`;
  const payment = (column: string, value: number) =>
    `insert into payments (source, payment_id, status, ${column}) values ('sim', 'pay_1', 'captured', ${value})`;
  const checkout = (amount: number) =>
    `insert into checkouts (order_id, n, source, status, amount, currency) values ('ord_1', 1, 'sim', 'pending', ${amount}, 'EUR')`;
  const line = (kind: string, amount: number, quantity = 1) =>
    `insert into order_lines (order_id, id, position, kind, amount, quantity)
     values ('ord_1', 'l2', 1, '${kind}', ${amount}, ${quantity})`;

  it('is never below zero, and above it where it is owed or moved', async () => {
    for (const set of ['amount_due = 0', 'amount_due = -1', 'amount_paid = -1', 'amount_refunded = -1']) {
      await refused(CHECK, order(set));
    }
    await refused(CHECK, payment('amount', -1));
    await refused(CHECK, payment('amount_refunded', -1));
    for (const amount of [0, -1]) {
      await refused(CHECK, refund('r_1', 'requested', { amount }));
      await refused(CHECK, checkout(amount));
    }
  });

  it('of a line is negative for a discount alone', async () => {
    await refused(CHECK, line('product', -1));
    await refused(CHECK, line('product', 1, 0));
    await accepted(line('discount', -1));
  });

  it('stands beside a currency of three capital letters', async () => {
    for (const currency of ['eur', 'EURO', 'E', '']) await refused(CHECK, order(`currency = '${currency}'`));
  });
});

describe('a status', () => {
  const NOBODYS = ['', 'PAID', 'refunded', 'done'];
  const order = (status: string) => `update orders set status = '${status}' where id = 'ord_1'`;
  const payment = (status: string) =>
    `insert into payments (source, payment_id, status) values ('sim', '${status}', '${status}')`;
  const refundIn = (status: string) => refund(`r_${status}`, 'requested', { status });

  it('that nobody named cannot be written', async () => {
    for (const status of NOBODYS) {
      await refused(CHECK, order(status));
      await refused(CHECK, payment(status));
      await refused(CHECK, refundIn(status));
      await refused(CHECK, refund('r_1', status));
      await refused(
        CHECK,
        `insert into webhook_events (source, event_id, event_type, body_sha256, state) values ('sim', 'e', 't', '\\x00', '${status}')`,
      );
      await refused(
        CHECK,
        `insert into checkouts (order_id, n, source, status, amount, currency) values ('ord_1', 1, 'sim', '${status}', 1, 'EUR')`,
      );
      await refused(
        CHECK,
        `insert into idempotency_keys (scope, key, request_hash, status, leased_until) values ('s', 'k', '\\x00', '${status}', now())`,
      );
      await refused(
        CHECK,
        `insert into dead_letters (id, kind, status, last_error) values ('d', 'late_capture', '${status}', '')`,
      );
      await refused(CHECK, `insert into dead_letters (id, kind, last_error) values ('d', '${status}', '')`);
      await refused(
        CHECK,
        `insert into state_transitions (machine, object_id, to_status, cause) values ('${status}', 'o', 's', 'c')`,
      );
    }
  });

  it('that the state machines name can be written', async () => {
    for (const status of PAYMENT_STATUSES) await accepted(payment(status));
    for (const status of REFUND_STATUSES) await accepted(refundIn(status));
    for (const status of ORDER_STATUSES) {
      if (status !== 'paid') await accepted(order(status));
    }
  });
});
