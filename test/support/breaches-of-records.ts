import { type Breach, DAY_AGO } from './breach.ts';

const INSERT_EVENT = `insert into webhook_events (source, event_id, event_type, payment_id, body_sha256, state, outcome, processed_at)`;

/** Breaches of what follows from money, and of what is known of events, announcements and history. */
export const BREACHES_OF_RECORDS: readonly Breach[] = [
  [
    'booking_per_line',
    { order_id: 'ord_part', line_id: 'l1' },
    `insert into bookings (order_id, line_id, kind, status) values ('ord_part', 'l1', 'enrolment', 'confirmed')`,
  ],
  [
    'gift_card_per_unit',
    { order_id: 'ord_full', line_id: 'card' },
    `delete from gift_cards where order_id = 'ord_full' and unit = 2`,
  ],
  [
    'gift_card_per_unit',
    { order_id: 'ord_full', line_id: 'card' },
    `update gift_cards set amount = amount + 1 where order_id = 'ord_full' and unit = 2`,
  ],
  [
    'gift_card_per_unit',
    { order_id: 'ord_refunded', line_id: 'card' },
    `update gift_cards set remaining = 1 where order_id = 'ord_refunded' and unit = 2`,
  ],
  [
    'package_per_unit',
    { order_id: 'ord_full', line_id: 'pack' },
    `update packages set unit = 4 where order_id = 'ord_full' and unit = 3`,
  ],
  ['invoice_per_order', { order_id: 'ord_full' }, `delete from invoices where order_id = 'ord_full'`],
  [
    'invoice_per_order',
    { order_id: 'ord_full' },
    'drop index invoices_one_per_order',
    `insert into invoices (order_id, kind, amount, currency) values ('ord_full', 'invoice', 10000, 'EUR')`,
  ],
  ['loyalty_standing', { order_id: 'ord_full' }, `update loyalty_entries set points = 200 where order_id = 'ord_full'`],
  ['loyalty_standing', { order_id: 'ord_yen' }, `update loyalty_entries set points = 5 where order_id = 'ord_yen'`],
  [
    'loyalty_standing',
    { order_id: 'ord_surplus' },
    `delete from loyalty_entries where order_id = 'ord_surplus' and refund_id is not null`,
  ],
  [
    'one_loyalty_earning',
    { order_id: 'ord_full' },
    'drop index loyalty_entries_one_earning',
    `insert into loyalty_entries (order_id, customer_id, source, payment_id, points) values ('ord_full', 'cus_1', 'sim', 'pay_other', 100)`,
  ],
  [
    'one_loyalty_earning',
    { order_id: 'ord_surplus' },
    `update loyalty_entries set refund_id = 'gateway:sim:rf_refunded_1' where order_id = 'ord_surplus' and refund_id is not null`,
  ],
  [
    'stopped_with_full_refund',
    { order_id: 'ord_refunded' },
    `update packages set status = 'active' where order_id = 'ord_refunded'`,
  ],
  [
    'stopped_with_full_refund',
    { order_id: 'ord_surplus' },
    `update bookings set status = 'cancelled', cancelled_by_refund = 'gateway:sim:rf_surplus_1' where order_id = 'ord_surplus'`,
  ],
  [
    'credit_notes_of_an_order',
    { order_id: 'ord_surplus' },
    `update invoices set amount = 3000 where order_id = 'ord_surplus' and kind = 'credit_note'`,
  ],
  [
    'credit_notes_of_an_order',
    { order_id: 'ord_refunded' },
    `delete from invoices where order_id = 'ord_refunded' and kind = 'credit_note' and amount = 4000`,
  ],

  ['event_passed_the_gate', { event_id: 'evt_2' }, `delete from processed_events where event_id = 'sim:evt_2'`],
  [
    'event_passed_the_gate',
    { event_id: 'evt_ignored' },
    `update processed_events set outcome = 'marked_paid' where event_id = 'sim:evt_ignored'`,
  ],
  [
    'event_passed_the_gate',
    { event_id: 'evt_lost' },
    `insert into processed_events (consumer, event_id, outcome) values ('payments', 'sim:evt_lost', 'x')`,
  ],
  [
    'event_passed_the_gate',
    { event_id: 'sim:evt_nowhere' },
    `insert into processed_events (consumer, event_id, outcome) values ('payments', 'sim:evt_nowhere', 'x')`,
  ],
  [
    'processed_at_says_so',
    { event_id: 'evt_1' },
    `update webhook_events set processed_at = null where event_id = 'evt_1'`,
  ],
  [
    'event_is_not_stuck',
    { event_id: 'evt_unknown' },
    `update webhook_events set received_at = ${DAY_AGO}, next_look_at = null where event_id = 'evt_unknown'`,
  ],
  [
    'event_is_not_stuck',
    { event_id: 'evt_1' },
    `update webhook_events set look_again_at = ${DAY_AGO} where event_id = 'evt_1'`,
  ],
  [
    'held_event_is_before_a_human',
    { event_id: 'evt_unreadable' },
    `delete from dead_letters where event_id = 'evt_unreadable'`,
  ],
  [
    'held_event_is_before_a_human',
    { event_id: 'evt_unreadable' },
    `update dead_letters set status = 'decided', closed_at = ${DAY_AGO}, decision = '{"action": "retry"}' where event_id = 'evt_unreadable'`,
  ],
  ['delivery_has_its_event', { event_id: 'evt_2' }, `delete from webhook_events where event_id = 'evt_2'`],
  [
    'found_bytes_are_of_a_found_event',
    { event_id: 'evt_2' },
    `update webhook_deliveries set found = true where event_id = 'evt_2'`,
  ],
  ['event_was_delivered', { event_id: 'evt_2' }, `delete from webhook_deliveries where event_id = 'evt_2'`],
  [
    'event_was_delivered',
    { event_id: 'evt_new' },
    `${INSERT_EVENT} values ('sim', 'evt_new', 'payment.captured', 'pay_new', '\\x00', 'processed', 'marked_paid', now())`,
  ],
  [
    'other_bytes_are_marked',
    { event_id: 'evt_1' },
    `update webhook_deliveries set differs = false, received_at = ${DAY_AGO} where event_id = 'evt_1'`,
  ],

  [
    'order_paid_announced_once',
    { order_id: 'ord_full' },
    `delete from outbox where event_type = 'order.paid' and aggregate_id = 'ord_full'`,
  ],
  [
    'order_paid_announced_once',
    { order_id: 'ord_part' },
    `insert into outbox (event_type, aggregate_id, aggregate_version, payload) values ('order.paid', 'ord_part', 1, '{}')`,
  ],
  [
    'fulfilment_requested_once',
    { order_id: 'ord_full', line_id: 'book' },
    `delete from outbox where event_type = 'fulfilment.requested' and aggregate_id = 'ord_full'`,
  ],
  [
    'versions_of_an_order',
    { order_id: 'ord_full' },
    `update outbox set aggregate_version = 1 where aggregate_id = 'ord_full'`,
  ],
  ['versions_of_an_order', { order_id: 'ord_full' }, `update orders set aggregate_version = 0 where id = 'ord_full'`],
  ['outbox_is_published', {}, `update outbox set created_at = ${DAY_AGO}`],
  [
    'stored_answers_are_successes',
    {},
    `insert into idempotency_keys (scope, key, request_hash, status, response_code, response_body, leased_until)
     values ('dev POST /v1/orders', 'k1', '\\x00', 'completed', 500, '{}', now())`,
  ],

  [
    'order_history',
    { order_id: 'ord_full' },
    `delete from state_transitions where machine = 'order' and object_id = 'ord_full' and to_status = 'paid'`,
  ],
  [
    'transition_has_a_name',
    { object: 'ord_full' },
    `insert into state_transitions (machine, object_id, from_status, to_status, cause) values ('order', 'ord_full', 'paid', 'paid', 'x')`,
  ],
  [
    'payment_history',
    { payment_id: 'pay_failed' },
    `insert into state_transitions (machine, object_id, from_status, to_status, cause) values ('payment', 'sim:pay_failed', 'pending', 'failed', 'x')`,
  ],
  [
    'payment_history',
    { payment_id: 'pay:full' },
    `update payments set status = 'failed' where payment_id = 'pay:full'`,
  ],
  [
    'refund_history',
    { payment_id: 'pay_done_2' },
    `update refunds set status = 'pending' where payment_id = 'pay_done_2'`,
  ],
];
