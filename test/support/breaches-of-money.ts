import { type Breach, DAY_AGO } from './breach.ts';

/** Breaches of what orders, payments, refunds and the books say. */
export const BREACHES_OF_MONEY: readonly Breach[] = [
  [
    'order_amount_paid',
    { order_id: 'ord_full' },
    `update orders set amount_paid = amount_paid + 1 where id = 'ord_full'`,
  ],
  ['order_amount_paid', { order_id: 'ord_parts' }, `delete from order_payments where payment_id = 'pay_part_0'`],
  [
    'order_amount_refunded',
    { order_id: 'ord_refunded' },
    `update orders set amount_refunded = 4000 where id = 'ord_refunded'`,
  ],
  [
    'order_status_follows_amount',
    { order_id: 'ord_part' },
    `update orders set status = 'payment_pending' where id = 'ord_part'`,
  ],
  [
    'order_status_follows_amount',
    { order_id: 'ord_full' },
    `update orders set status = 'partially_paid' where id = 'ord_full'`,
  ],
  [
    'order_paid_by_one_payment',
    { order_id: 'ord_parts' },
    `update order_payments set outcome = 'marked_paid' where payment_id = 'pay_part_0'`,
  ],
  [
    'order_paid_by_one_payment',
    { order_id: 'ord_full' },
    `update orders set paid_payment_id = 'pay_part_1' where id = 'ord_full'`,
  ],
  ['order_paid_by_one_payment', { order_id: 'ord_part' }, `update orders set paid_at = now() where id = 'ord_part'`],
  [
    'no_payment_counts_beyond_paid',
    { order_id: 'ord_done' },
    `insert into order_payments (source, payment_id, order_id, amount, counted_by, outcome)
     values ('sim', 'pay_done_2', 'ord_done', 10000, 'x', 'partially_paid')`,
  ],
  [
    'unpaid_order_follows_payments',
    { order_id: 'ord_failed_only' },
    `update orders set status = 'payment_pending' where id = 'ord_failed_only'`,
  ],
  [
    'unpaid_order_follows_payments',
    { order_id: 'ord_checkout' },
    `update orders set status = 'pending_payment' where id = 'ord_checkout'`,
  ],
  [
    'order_expires_in_time',
    { order_id: 'ord_part' },
    `update orders set expires_at = ${DAY_AGO} where id = 'ord_part'`,
  ],
  ['checkouts_of_an_order', { order_id: 'ord_checkout' }, `update checkouts set n = 2`],
  ['checkouts_of_an_order', { order_id: 'ord_checkout' }, `update checkouts set payment_id = 'pay_nowhere'`],

  [
    'captured_payment_has_one_fate',
    { payment_id: 'pay_done_2' },
    `insert into order_payments (source, payment_id, order_id, amount, counted_by, outcome)
     values ('sim', 'pay_done_2', 'ord_done', 10000, 'x', 'marked_paid')`,
  ],
  [
    'captured_payment_has_one_fate',
    { payment_id: 'pay_open_2' },
    `delete from refunds where payment_id = 'pay_open_2'`,
  ],
  [
    'captured_payment_has_one_fate',
    { payment_id: 'pay_currency' },
    `delete from dead_letters where payment_id = 'pay_currency'`,
  ],
  [
    'captured_payment_has_one_fate',
    { payment_id: 'pay_currency' },
    `update dead_letters set status = 'recovered' where payment_id = 'pay_currency'`,
  ],
  [
    'captured_payment_has_one_fate',
    { payment_id: 'pay_late' },
    `update orders set status = 'pending_payment' where id = 'ord_cancelled'`,
  ],
  [
    'partial_payment_of_an_ended_order',
    { payment_id: 'pay_cancelled' },
    `delete from refunds where payment_id = 'pay_cancelled'`,
  ],
  [
    'partial_payment_of_an_ended_order',
    { payment_id: 'pay_expired' },
    `delete from dead_letters where payment_id = 'pay_expired'`,
  ],
  [
    'counted_payment_is_captured',
    { payment_id: 'pay:full' },
    `update payments set status = 'failed' where payment_id = 'pay:full'`,
  ],
  [
    'counted_payment_is_captured',
    { payment_id: 'pay_parts' },
    `insert into order_payments (source, payment_id, order_id, amount, counted_by, outcome) values ('sim', 'pay_parts', 'ord_parts', 1, 'x', 'partially_paid')`,
  ],
  [
    'counted_payment_is_captured',
    { payment_id: 'pay_part_1' },
    `update order_payments set amount = 5999 where payment_id = 'pay_part_1'`,
  ],
  [
    'counted_payment_is_captured',
    { payment_id: 'pay_open_2' },
    `update payments set currency = 'USD' where payment_id = 'pay_open_2'`,
  ],
  [
    'payment_outcome',
    { payment_id: 'pay_open_2' },
    `update payments set outcome = 'marked_paid' where payment_id = 'pay_open_2'`,
  ],
  [
    'payment_outcome',
    { payment_id: 'pay:full' },
    `update payments set outcome = 'extra_payment' where payment_id = 'pay:full'`,
  ],
  [
    'one_winner',
    { payment_id: 'pay:full' },
    `update webhook_events set outcome = 'marked_paid' where event_id in ('evt_1', 'evt_2')`,
  ],
  [
    'one_winner',
    { payment_id: 'pay_part_0' },
    `update order_payments set counted_by = 'sim:evt_1' where payment_id = 'pay_part_0'`,
  ],
  [
    'payment_amount_refunded',
    { payment_id: 'pay_done_2' },
    `update payments set amount_refunded = 20000 where payment_id = 'pay_done_2'`,
  ],
  [
    'payment_finds_its_order',
    { payment_id: 'pay_early' },
    `update payments set order_id = 'ord_full', updated_at = ${DAY_AGO} where payment_id = 'pay_early'`,
    `update orders set created_at = ${DAY_AGO} where id = 'ord_full'`,
  ],

  [
    'refunds_within_captured',
    { payment_id: 'pay_exceeded' },
    `delete from dead_letters where kind = 'refunds_exceed_captured'`,
  ],
  [
    'refunds_within_captured',
    { payment_id: 'pay_open_2' },
    `insert into refunds (id, source, payment_id, order_id, kind, status, amount, currency)
     values ('rf_x', 'sim', 'pay_open_2', 'ord_open', 'requested', 'pending', 1, 'EUR')`,
  ],
  [
    'automatic_refund_once',
    { payment_id: 'pay_open_2' },
    `update refunds set id = 'extra_capture:sim:pay_random' where payment_id = 'pay_open_2'`,
  ],
  [
    'automatic_refund_once',
    { payment_id: 'pay_open_2' },
    'drop index refunds_one_automatic',
    `insert into refunds (id, source, payment_id, order_id, kind, status, amount, currency, reference)
     values ('late_capture:sim:pay_open_2', 'sim', 'pay_open_2', 'ord_open', 'late_capture', 'pending', 1, 'EUR', 'refund:late_capture:sim:pay_open_2')`,
  ],
  [
    'automatic_refund_is_whole',
    { refund_id: 'extra_capture:sim:pay_open_2' },
    `update refunds set amount = 9999 where payment_id = 'pay_open_2'`,
  ],
  [
    'money_in_doubt_is_before_a_human',
    { payment_id: 'pay_doubt_2' },
    `delete from dead_letters where kind = 'outcome_unknown'`,
  ],
  [
    'money_in_doubt_is_before_a_human',
    { payment_id: 'pay_refused_2' },
    `delete from dead_letters where payment_id = 'pay_refused_2'`,
  ],
  [
    'money_in_doubt_is_before_a_human',
    { payment_id: 'pay_open_2' },
    `update refunds set status = 'failed' where payment_id = 'pay_open_2'`,
  ],
  [
    'refund_is_under_way',
    { payment_id: 'pay_open_2' },
    `update refunds set created_at = ${DAY_AGO}, updated_at = ${DAY_AGO} where payment_id = 'pay_open_2'`,
  ],
  [
    'refund_announced_once',
    { payment_id: 'pay_open_2' },
    `delete from outbox where event_type = 'refund.requested' and payload->>'payment_id' = 'pay_open_2'`,
  ],
  [
    'refund_announced_once',
    { payment_id: 'pay_done_2' },
    `insert into outbox (event_type, aggregate_id, aggregate_version, payload) select event_type, aggregate_id, 99, payload from outbox where event_type = 'refund.succeeded' and payload->>'payment_id' = 'pay_done_2'`,
  ],

  ['booking_per_line', { order_id: 'ord_full', line_id: 'course' }, `delete from bookings where order_id = 'ord_full'`],
  [
    'posting_balanced',
    { posting: 'captured:sim:pay%3Afull' },
    `update ledger_entries set amount = amount + 1 where source_event_id = 'captured:sim:pay%3Afull' and account = 'sales'`,
  ],
  [
    'ledger_balanced',
    {},
    `delete from ledger_entries where source_event_id = 'captured:sim:pay_yen' and side = 'debit'`,
  ],
  [
    'capture_posted_once',
    { payment_id: 'pay:full' },
    `delete from ledger_entries where source_event_id = 'captured:sim:pay%3Afull'`,
  ],
  [
    'capture_posted_once',
    { posting: 'captured:sim:pay_nowhere' },
    `update ledger_entries set source_event_id = 'captured:sim:pay_nowhere' where source_event_id = 'captured:sim:pay_yen'`,
  ],
  [
    'refund_posted_once',
    { refund_id: 'gateway:sim:rf_surplus_1' },
    `delete from ledger_entries where refund_id = 'gateway:sim:rf_surplus_1'`,
  ],
  [
    'refund_posted_once',
    { posting: 'refund_returned:gateway:sim:rf_returned_1' },
    `delete from ledger_entries where source_event_id = 'refund_returned:gateway:sim:rf_returned_1'`,
  ],
  [
    'books_of_an_order',
    { order_id: 'ord_surplus' },
    `update ledger_entries set account = 'sales' where order_id = 'ord_surplus' and account = 'sales_refunds'`,
  ],
  [
    'owed_back_and_unallocated',
    { payment_id: 'pay_open_2' },
    `update ledger_entries set account = 'unallocated' where payment_id = 'pay_open_2' and account = 'refunds_payable'`,
  ],
  [
    'owed_back_and_unallocated',
    { payment_id: 'pay_currency' },
    `update ledger_entries set account = 'sales' where payment_id = 'pay_currency' and account = 'unallocated'`,
  ],
];
