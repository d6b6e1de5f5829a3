import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditIn, runAudit } from '../../src/database/audit.ts';
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

const DAY_AGO = `now() - interval '1 day'`;
const INSERT_EVENT = `insert into webhook_events (source, event_id, event_type, payment_id, body_sha256, state, outcome, processed_at)`;

/** Each invariant and the ways in which it is broken here; the ids that the violation must name. */
const BREACHES: readonly [invariant: string, ids: Record<string, string>, ...statements: string[]][] = [
  ['order_amount_paid', { order_id: 'ord_full' }, `update orders set amount_paid = amount_paid + 1 where id = 'ord_full'`],
  ['order_amount_paid', { order_id: 'ord_parts' }, `delete from order_payments where payment_id = 'pay_part_0'`],
  ['order_amount_refunded', { order_id: 'ord_refunded' }, `update orders set amount_refunded = 4000 where id = 'ord_refunded'`],
  ['order_status_follows_amount', { order_id: 'ord_part' }, `update orders set status = 'payment_pending' where id = 'ord_part'`],
  ['order_status_follows_amount', { order_id: 'ord_full' }, `update orders set status = 'partially_paid' where id = 'ord_full'`],
  ['order_paid_by_one_payment', { order_id: 'ord_parts' }, `update order_payments set outcome = 'marked_paid' where payment_id = 'pay_part_0'`],
  ['order_paid_by_one_payment', { order_id: 'ord_full' }, `update orders set paid_payment_id = 'pay_part_1' where id = 'ord_full'`],
  ['order_paid_by_one_payment', { order_id: 'ord_part' }, `update orders set paid_at = now() where id = 'ord_part'`],
  [
    'no_payment_counts_beyond_paid',
    { order_id: 'ord_done' },
    `insert into order_payments (source, payment_id, order_id, amount, counted_by, outcome)
     values ('sim', 'pay_done_2', 'ord_done', 10000, 'x', 'partially_paid')`,
  ],
  ['unpaid_order_follows_payments', { order_id: 'ord_failed_only' }, `update orders set status = 'payment_pending' where id = 'ord_failed_only'`],
  ['unpaid_order_follows_payments', { order_id: 'ord_checkout' }, `update orders set status = 'pending_payment' where id = 'ord_checkout'`],
  ['order_expires_in_time', { order_id: 'ord_part' }, `update orders set expires_at = ${DAY_AGO} where id = 'ord_part'`],
  ['order_disputed', { order_id: 'ord_disputed' }, `update orders set disputed = false where id = 'ord_disputed'`],
  ['order_disputed', { order_id: 'ord_full' }, `update orders set disputed = true where id = 'ord_full'`],
  ['checkouts_of_an_order', { order_id: 'ord_checkout' }, `update checkouts set n = 2`],
  ['checkouts_of_an_order', { order_id: 'ord_checkout' }, `update checkouts set payment_id = 'pay_nowhere'`],

  [
    'captured_payment_has_one_fate',
    { payment_id: 'pay_done_2' },
    `insert into order_payments (source, payment_id, order_id, amount, counted_by, outcome)
     values ('sim', 'pay_done_2', 'ord_done', 10000, 'x', 'marked_paid')`,
  ],
  ['captured_payment_has_one_fate', { payment_id: 'pay_open_2' }, `delete from refunds where payment_id = 'pay_open_2'`],
  ['captured_payment_has_one_fate', { payment_id: 'pay_currency' }, `delete from dead_letters where payment_id = 'pay_currency'`],
  ['captured_payment_has_one_fate', { payment_id: 'pay_currency' }, `update dead_letters set status = 'recovered' where payment_id = 'pay_currency'`],
  ['captured_payment_has_one_fate', { payment_id: 'pay_late' }, `update orders set status = 'pending_payment' where id = 'ord_cancelled'`],
  ['partial_payment_of_an_ended_order', { payment_id: 'pay_cancelled' }, `delete from refunds where payment_id = 'pay_cancelled'`],
  ['partial_payment_of_an_ended_order', { payment_id: 'pay_expired' }, `delete from dead_letters where payment_id = 'pay_expired'`],
  ['counted_payment_is_captured', { payment_id: 'pay:full' }, `update payments set status = 'failed' where payment_id = 'pay:full'`],
  ['counted_payment_is_captured', { payment_id: 'pay_parts' }, `insert into order_payments (source, payment_id, order_id, amount, counted_by, outcome) values ('sim', 'pay_parts', 'ord_parts', 1, 'x', 'partially_paid')`],
  ['counted_payment_is_captured', { payment_id: 'pay_part_1' }, `update order_payments set amount = 5999 where payment_id = 'pay_part_1'`],
  ['counted_payment_is_captured', { payment_id: 'pay_open_2' }, `update payments set currency = 'USD' where payment_id = 'pay_open_2'`],
  ['payment_outcome', { payment_id: 'pay_open_2' }, `update payments set outcome = 'marked_paid' where payment_id = 'pay_open_2'`],
  ['payment_outcome', { payment_id: 'pay:full' }, `update payments set outcome = 'extra_payment' where payment_id = 'pay:full'`],
  ['one_winner', { payment_id: 'pay:full' }, `update webhook_events set outcome = 'marked_paid' where event_id in ('evt_1', 'evt_2')`],
  ['one_winner', { payment_id: 'pay_part_0' }, `update order_payments set counted_by = 'sim:evt_1' where payment_id = 'pay_part_0'`],
  ['payment_amount_refunded', { payment_id: 'pay_done_2' }, `update payments set amount_refunded = 20000 where payment_id = 'pay_done_2'`],
  [
    'payment_finds_its_order',
    { payment_id: 'pay_early' },
    `update payments set order_id = 'ord_full', updated_at = ${DAY_AGO} where payment_id = 'pay_early'`,
    `update orders set created_at = ${DAY_AGO} where id = 'ord_full'`,
  ],

  ['refunds_within_captured', { payment_id: 'pay_exceeded' }, `delete from dead_letters where kind = 'refunds_exceed_captured'`],
  [
    'refunds_within_captured',
    { payment_id: 'pay_open_2' },
    `insert into refunds (id, source, payment_id, order_id, kind, status, amount, currency)
     values ('rf_x', 'sim', 'pay_open_2', 'ord_open', 'requested', 'pending', 1, 'EUR')`,
  ],
  ['automatic_refund_once', { payment_id: 'pay_open_2' }, `update refunds set id = 'extra_capture:sim:pay_random' where payment_id = 'pay_open_2'`],
  [
    'automatic_refund_once',
    { payment_id: 'pay_open_2' },
    'drop index refunds_one_automatic',
    `insert into refunds (id, source, payment_id, order_id, kind, status, amount, currency, reference)
     values ('late_capture:sim:pay_open_2', 'sim', 'pay_open_2', 'ord_open', 'late_capture', 'pending', 1, 'EUR', 'refund:late_capture:sim:pay_open_2')`,
  ],
  ['automatic_refund_is_whole', { refund_id: 'extra_capture:sim:pay_open_2' }, `update refunds set amount = 9999 where payment_id = 'pay_open_2'`],
  ['money_in_doubt_is_before_a_human', { payment_id: 'pay_doubt_2' }, `delete from dead_letters where kind = 'outcome_unknown'`],
  ['money_in_doubt_is_before_a_human', { payment_id: 'pay_refused_2' }, `delete from dead_letters where payment_id = 'pay_refused_2'`],
  ['money_in_doubt_is_before_a_human', { payment_id: 'pay_open_2' }, `update refunds set status = 'failed' where payment_id = 'pay_open_2'`],
  ['refund_is_under_way', { payment_id: 'pay_open_2' }, `update refunds set created_at = ${DAY_AGO}, updated_at = ${DAY_AGO} where payment_id = 'pay_open_2'`],
  ['refund_announced_once', { payment_id: 'pay_open_2' }, `delete from outbox where event_type = 'refund.requested' and payload->>'payment_id' = 'pay_open_2'`],
  ['refund_announced_once', { payment_id: 'pay_done_2' }, `insert into outbox (event_type, aggregate_id, aggregate_version, payload) select event_type, aggregate_id, 99, payload from outbox where event_type = 'refund.succeeded' and payload->>'payment_id' = 'pay_done_2'`],

  ['booking_per_line', { order_id: 'ord_full', line_id: 'course' }, `delete from bookings where order_id = 'ord_full'`],
  ['booking_per_line', { order_id: 'ord_part', line_id: 'l1' }, `insert into bookings (order_id, line_id, kind, status) values ('ord_part', 'l1', 'enrolment', 'confirmed')`],
  ['gift_card_per_unit', { order_id: 'ord_full', line_id: 'card' }, `delete from gift_cards where order_id = 'ord_full' and unit = 2`],
  ['gift_card_per_unit', { order_id: 'ord_full', line_id: 'card' }, `update gift_cards set amount = amount + 1 where order_id = 'ord_full' and unit = 2`],
  ['gift_card_per_unit', { order_id: 'ord_refunded', line_id: 'card' }, `update gift_cards set remaining = 1 where order_id = 'ord_refunded' and unit = 2`],
  ['package_per_unit', { order_id: 'ord_full', line_id: 'pack' }, `update packages set unit = 4 where order_id = 'ord_full' and unit = 3`],
  ['invoice_per_order', { order_id: 'ord_full' }, `delete from invoices where order_id = 'ord_full'`],
  ['invoice_per_order', { order_id: 'ord_full' }, 'drop index invoices_one_per_order', `insert into invoices (order_id, kind, amount, currency) values ('ord_full', 'invoice', 10000, 'EUR')`],
  ['loyalty_standing', { order_id: 'ord_full' }, `update loyalty_entries set points = 200 where order_id = 'ord_full'`],
  ['loyalty_standing', { order_id: 'ord_yen' }, `update loyalty_entries set points = 5 where order_id = 'ord_yen'`],
  ['loyalty_standing', { order_id: 'ord_surplus' }, `delete from loyalty_entries where order_id = 'ord_surplus' and refund_id is not null`],
  ['one_loyalty_earning', { order_id: 'ord_full' }, `insert into loyalty_entries (order_id, customer_id, source, payment_id, points) values ('ord_full', 'cus_1', 'sim', 'pay_other', 100)`],
  ['one_loyalty_earning', { order_id: 'ord_surplus' }, `update loyalty_entries set refund_id = 'gateway:sim:rf_refunded_1' where order_id = 'ord_surplus' and refund_id is not null`],
  ['stopped_with_full_refund', { order_id: 'ord_refunded' }, `update packages set status = 'active' where order_id = 'ord_refunded'`],
  ['stopped_with_full_refund', { order_id: 'ord_surplus' }, `update bookings set status = 'cancelled', cancelled_by_refund = 'gateway:sim:rf_surplus_1' where order_id = 'ord_surplus'`],
  ['credit_notes_of_an_order', { order_id: 'ord_surplus' }, `update invoices set amount = 3000 where order_id = 'ord_surplus' and kind = 'credit_note'`],
  ['credit_notes_of_an_order', { order_id: 'ord_refunded' }, `delete from invoices where order_id = 'ord_refunded' and kind = 'credit_note' and amount = 4000`],

  ['posting_balanced', { posting: 'captured:sim:pay%3Afull' }, `update ledger_entries set amount = amount + 1 where source_event_id = 'captured:sim:pay%3Afull' and account = 'sales'`],
  ['ledger_balanced', {}, `delete from ledger_entries where source_event_id = 'captured:sim:pay_yen' and side = 'debit'`],
  ['capture_posted_once', { payment_id: 'pay:full' }, `delete from ledger_entries where source_event_id = 'captured:sim:pay%3Afull'`],
  ['capture_posted_once', { posting: 'captured:sim:pay_nowhere' }, `update ledger_entries set source_event_id = 'captured:sim:pay_nowhere' where source_event_id = 'captured:sim:pay_yen'`],
  ['refund_posted_once', { refund_id: 'gateway:sim:rf_surplus_1' }, `delete from ledger_entries where refund_id = 'gateway:sim:rf_surplus_1'`],
  ['refund_posted_once', { posting: 'refund_returned:gateway:sim:rf_returned_1' }, `delete from ledger_entries where source_event_id = 'refund_returned:gateway:sim:rf_returned_1'`],
  ['books_of_an_order', { order_id: 'ord_surplus' }, `update ledger_entries set account = 'sales' where order_id = 'ord_surplus' and account = 'sales_refunds'`],
  ['owed_back_and_unallocated', { payment_id: 'pay_open_2' }, `update ledger_entries set account = 'unallocated' where payment_id = 'pay_open_2' and account = 'refunds_payable'`],
  ['owed_back_and_unallocated', { payment_id: 'pay_currency' }, `update ledger_entries set account = 'sales' where payment_id = 'pay_currency' and account = 'unallocated'`],

  ['event_passed_the_gate', { event_id: 'evt_2' }, `delete from processed_events where event_id = 'sim:evt_2'`],
  ['event_passed_the_gate', { event_id: 'evt_ignored' }, `update processed_events set outcome = 'marked_paid' where event_id = 'sim:evt_ignored'`],
  ['event_passed_the_gate', { event_id: 'evt_lost' }, `insert into processed_events (consumer, event_id, outcome) values ('payments', 'sim:evt_lost', 'x')`],
  ['event_passed_the_gate', { event_id: 'sim:evt_nowhere' }, `insert into processed_events (consumer, event_id, outcome) values ('payments', 'sim:evt_nowhere', 'x')`],
  ['processed_at_says_so', { event_id: 'evt_1' }, `update webhook_events set processed_at = null where event_id = 'evt_1'`],
  ['event_is_not_stuck', { event_id: 'evt_unknown' }, `update webhook_events set received_at = ${DAY_AGO}, next_look_at = null where event_id = 'evt_unknown'`],
  ['event_is_not_stuck', { event_id: 'evt_1' }, `update webhook_events set look_again_at = ${DAY_AGO} where event_id = 'evt_1'`],
  ['held_event_is_before_a_human', { event_id: 'evt_unreadable' }, `delete from dead_letters where event_id = 'evt_unreadable'`],
  ['delivery_has_its_event', { event_id: 'evt_2' }, `delete from webhook_events where event_id = 'evt_2'`],
  ['event_was_delivered', { event_id: 'evt_2' }, `delete from webhook_deliveries where event_id = 'evt_2'`],
  ['event_was_delivered', { event_id: 'evt_new' }, `${INSERT_EVENT} values ('sim', 'evt_new', 'payment.captured', 'pay_new', '\\x00', 'processed', 'marked_paid', now())`],
  ['other_bytes_are_marked', { event_id: 'evt_1' }, `update webhook_deliveries set differs = false, received_at = ${DAY_AGO} where event_id = 'evt_1'`],

  ['order_paid_announced_once', { order_id: 'ord_full' }, `delete from outbox where event_type = 'order.paid' and aggregate_id = 'ord_full'`],
  ['order_paid_announced_once', { order_id: 'ord_part' }, `insert into outbox (event_type, aggregate_id, aggregate_version, payload) values ('order.paid', 'ord_part', 1, '{}')`],
  ['fulfilment_requested_once', { order_id: 'ord_full', line_id: 'book' }, `delete from outbox where event_type = 'fulfilment.requested' and aggregate_id = 'ord_full'`],
  ['versions_of_an_order', { order_id: 'ord_full' }, `update outbox set aggregate_version = 1 where aggregate_id = 'ord_full'`],
  ['versions_of_an_order', { order_id: 'ord_full' }, `update orders set aggregate_version = 0 where id = 'ord_full'`],
  ['outbox_is_published', {}, `update outbox set created_at = ${DAY_AGO}`],
  [
    'stored_answers_are_successes',
    {},
    `insert into idempotency_keys (scope, key, request_hash, status, response_code, response_body, leased_until)
     values ('dev POST /v1/orders', 'k1', '\\x00', 'completed', 500, '{}', now())`,
  ],

  ['order_history', { order_id: 'ord_full' }, `delete from state_transitions where machine = 'order' and object_id = 'ord_full' and to_status = 'paid'`],
  ['order_history', { order_id: 'ord_full' }, `insert into state_transitions (machine, object_id, from_status, to_status, cause) values ('order', 'ord_full', 'paid', 'paid', 'x')`],
  ['payment_history', { payment_id: 'pay_failed' }, `insert into state_transitions (machine, object_id, from_status, to_status, cause) values ('payment', 'sim:pay_failed', 'pending', 'failed', 'x')`],
  ['payment_history', { payment_id: 'pay:full' }, `update payments set status = 'failed' where payment_id = 'pay:full'`],
  ['refund_history', { payment_id: 'pay_done_2' }, `update refunds set status = 'pending' where payment_id = 'pay_done_2'`],
];

describe('the audit', () => {
  it('finds nothing after a storm of which every state was brought about by the product itself', async () => {
    const report = await runAudit(db.pool);
    expect(report.violations).toEqual([]);
    expect(report).toMatchObject({ ok: true });
    expect(report.checked).toBeGreaterThan(40);
  });

  it('finds nothing on an empty database', async () => {
    const empty = await createTestDatabase();
    try {
      expect(await runAudit(empty.pool)).toMatchObject({ ok: true, violations: [] });
    } finally {
      await empty.drop();
    }
  });

  it.each(BREACHES)('names a breach of %s with %j', async (invariant, ids, ...statements) => {
    const report = await auditAfter(...statements);
    expect(report.ok).toBe(false);
    const named = report.violations.filter((violation) => violation.invariant === invariant);
    expect(named).toContainEqual(expect.objectContaining({ invariant, ...ids }));
  });

  it('is seen to find a breach of every invariant that it checks', async () => {
    const { checked } = await runAudit(db.pool);
    expect(new Set(BREACHES.map(([invariant]) => invariant)).size).toBe(checked);
  });

  it('judges loyalty points by the rate of the policy', async () => {
    const report = await runAudit(db.pool, { loyaltyPointsPerMajorUnit: 0.5 });
    expect(new Set(report.violations.map((violation) => violation.invariant))).toEqual(new Set(['loyalty_standing']));
  });
});
