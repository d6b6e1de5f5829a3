import type { Breach } from './breach.ts';

/** Breaches of what disputes leave, in a database after `seedStorm`. */
export const BREACHES_OF_DISPUTES: readonly Breach[] = [
  ['order_disputed', { order_id: 'ord_disputed' }, `update orders set disputed = false where id = 'ord_disputed'`],
  ['order_disputed', { order_id: 'ord_full' }, `update orders set disputed = true where id = 'ord_full'`],
  [
    'dispute_of_its_payment',
    { dispute_id: 'dp_extra' },
    `update disputes set payment_id = 'pay_nowhere' where dispute_id = 'dp_extra'`,
  ],
  [
    'dispute_of_its_payment',
    { dispute_id: 'dp_won', order_id: 'ord_full' },
    `update disputes set order_id = 'ord_full' where dispute_id = 'dp_won'`,
  ],
  [
    'dispute_of_its_payment',
    { dispute_id: 'dp_won' },
    `update disputes set order_id = null where dispute_id = 'dp_won'`,
    `update orders set created_at = now() - interval '1 day' where id = 'ord_won'`,
  ],
  ['event_has_its_dispute', { payment_id: 'pay_open_2' }, `delete from disputes where dispute_id = 'dp_extra'`],
  [
    'dispute_in_the_books',
    { dispute_id: 'dp:1#2' },
    `delete from ledger_entries where source_event_id = 'dispute_lost:sim:dp%3A1%232'`,
  ],
  // Won, and still withheld.
  [
    'dispute_in_the_books',
    { dispute_id: 'dp_won' },
    `delete from ledger_entries where source_event_id = 'dispute_won:sim:dp_won'`,
  ],
  // An inquiry that became a dispute after it had ended, and of which nothing is withheld.
  [
    'dispute_in_the_books',
    { dispute_id: 'dp_escalated' },
    `delete from ledger_entries where source_event_id = 'dispute_opened:sim:dp_escalated#2'`,
  ],
  [
    'dispute_announced_once',
    { dispute_id: 'dp_escalated' },
    `delete from outbox where id = (select max(id) from outbox where event_type = 'dispute.opened' and payload->>'dispute_id' = 'dp_escalated')`,
  ],
  [
    'dispute_in_the_books',
    { dispute_id: 'dp_rest' },
    `update ledger_entries set account = 'sales' where account = 'dispute_fees' and source_event_id = 'dispute_fee:sim:dp_rest'`,
  ],
  [
    'dispute_in_the_books',
    { payment_id: 'pay_yen' },
    `update ledger_entries set account = 'chargeback_losses' where source_event_id = 'captured:sim:pay_yen' and account = 'sales'`,
  ],
  [
    'dispute_announced_once',
    { dispute_id: 'dp_unmatched' },
    `delete from outbox where event_type = 'dispute.lost' and payload->>'dispute_id' = 'dp_unmatched'`,
  ],
  [
    'dispute_announced_once',
    { dispute_id: 'dp_extra' },
    `insert into outbox (event_type, aggregate_id, aggregate_version, payload) select event_type, aggregate_id, 99, payload from outbox where event_type = 'dispute.opened' and payload->>'dispute_id' = 'dp_extra'`,
  ],
  [
    'dispute_announced_once',
    { dispute_id: 'dp_nowhere' },
    `insert into outbox (event_type, aggregate_id, aggregate_version, payload) values ('dispute.won', 'x', 1, '{"source": "sim", "dispute_id": "dp_nowhere"}')`,
  ],
  [
    'order_amount_charged_back',
    { order_id: 'ord_revoked' },
    `update orders set amount_charged_back = 3000 where id = 'ord_revoked'`,
  ],
  [
    'order_amount_charged_back',
    { order_id: 'ord_disputed' },
    `update disputes set revokes = true where dispute_id = 'dp:1#2'`,
  ],
  [
    'top_up_charged_back',
    { dispute_id: 'dp_tu_charged_back' },
    `update disputes set charged_back = 0 where dispute_id = 'dp_tu_charged_back'`,
  ],
  [
    'top_up_charged_back',
    { dispute_id: 'dp_tu_charged_back' },
    `delete from ledger_entries where source_event_id like 'dispute_revoked:sim:dp_tu_charged_back%'`,
  ],
  [
    'wallet_debit_is_a_refund',
    { refund_id: 'dispute:sim:dp_tu_restored' },
    `delete from wallet_entries where source_event_id like 'dispute_restored:sim:dp_tu_restored%'`,
  ],
  [
    'wallet_debit_is_a_refund',
    { refund_id: 'dispute:sim:dp_tu_charged_back' },
    `update wallet_entries set amount = -4001 where refund_id = 'dispute:sim:dp_tu_charged_back'`,
  ],
  [
    'loyalty_standing',
    { order_id: 'ord_half_points' },
    `update orders set loyalty_rate = 600000 where id = 'ord_half_points'`,
  ],
  [
    'loyalty_standing',
    { order_id: 'ord_half_points' },
    `update orders set loyalty_rate = null where id = 'ord_half_points'`,
  ],
  [
    'loyalty_standing',
    { order_id: 'ord_revoked' },
    `delete from loyalty_entries where refund_id = 'dispute:sim:dp_rest'`,
  ],
  [
    'one_loyalty_earning',
    { order_id: 'ord_revoked' },
    `update loyalty_entries set refund_id = 'dispute:sim:dp_won' where refund_id = 'dispute:sim:dp_rest'`,
  ],
  [
    'stopped_with_full_refund',
    { order_id: 'ord_revoked' },
    `update bookings set status = 'confirmed' where order_id = 'ord_revoked'`,
  ],
  [
    'stopped_with_full_refund',
    { order_id: 'ord_disputed' },
    `update bookings set status = 'cancelled', cancelled_by_refund = 'dispute:sim:dp%3A1#2' where order_id = 'ord_disputed'`,
  ],

  ['dispute_history', { dispute_id: 'dp_won' }, `update disputes set status = 'lost' where dispute_id = 'dp_won'`],
  [
    'dispute_history',
    { dispute_id: 'dp_back_and_forth' },
    `delete from state_transitions where object_id = 'sim:dp_back_and_forth' and to_status = 'won'`,
  ],
  [
    'checkout_history',
    { order_id: 'ord_checkout' },
    `update checkouts set status = 'unknown' where order_id = 'ord_checkout'`,
  ],
  [
    'dead_letter_history',
    { dead_letter_id: 'late_capture:sim:pay_review' },
    `update dead_letters set status = 'recovered', closed_at = now() where id = 'late_capture:sim:pay_review'`,
  ],
  [
    'transition_has_a_name',
    { object: 'sim:pay_disputed' },
    `insert into state_transitions (machine, object_id, from_status, to_status, cause) values ('payment', 'sim:pay_disputed', 'captured', 'failed', 'x')`,
  ],
  [
    'transition_has_a_name',
    { object: 'nothing' },
    `insert into state_transitions (machine, object_id, to_status, cause) values ('dispute', 'nothing', 'lost', 'x')`,
  ],
];
