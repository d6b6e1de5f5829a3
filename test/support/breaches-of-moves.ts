import { type Breach, DAY_AGO } from './breach.ts';

const PAID = 'test:paid:2026-11-30';
const STUBBORN = 'test:stubborn:2026-11-30';

/** Breaches of what payouts, charges, top-ups, wallets and decisions say. */
export const BREACHES_OF_MOVES: readonly Breach[] = [
  ['payout_posted_once', { payout_id: PAID }, `delete from ledger_entries where source_event_id = 'paid_out:${PAID}'`],
  [
    'payout_posted_once',
    { payout_id: PAID },
    `insert into ledger_entries (source_event_id, account, side, amount, currency, source)
     select source_event_id || '#2', account, side, amount, currency, source from ledger_entries where source_event_id = 'paid_out:${PAID}'`,
  ],
  [
    'payout_posted_once',
    { payout_id: STUBBORN },
    `delete from ledger_entries where source_event_id = 'paid_out:${STUBBORN}#3'`,
  ],
  [
    'payout_posted_once',
    { payout_id: 'test:sent%3Aback:2026-11-30' },
    `delete from ledger_entries where source_event_id = 'payout_returned:test:sent%3Aback:2026-11-30'`,
  ],
  [
    'payout_posted_once',
    { payout_id: PAID },
    `update ledger_entries set amount = 699 where source_event_id = 'paid_out:${PAID}'`,
  ],
  [
    'payout_posted_once',
    { posting: 'captured:sim:pay_yen' },
    `update ledger_entries set account = 'seller_payouts' where source_event_id = 'captured:sim:pay_yen' and account = 'sales'`,
  ],
  [
    'payout_history',
    { payout_id: 'test:pending:2026-11-30' },
    `update payouts set status = 'succeeded' where seller_id = 'pending'`,
  ],
  [
    'transition_has_a_name',
    { object: STUBBORN },
    `update state_transitions set cause = 'look' where object_id = '${STUBBORN}' and from_status = 'failed'`,
  ],
  ...['doubt', 'rejected', 'failed'].map((seller): Breach => [
    'move_in_doubt_is_before_a_human',
    { payout_id: `test:${seller}:2026-11-30` },
    `delete from dead_letters where payout_id = 'test:${seller}:2026-11-30'`,
  ]),
  [
    'move_in_doubt_is_before_a_human',
    { payout_id: 'test:left:2026-11-30' },
    `update dead_letters set status = 'recovered' where payout_id = 'test:left:2026-11-30'`,
  ],
  [
    'move_in_doubt_is_before_a_human',
    { charge_id: 'ch_card_doubt' },
    `delete from dead_letters where workflow_id = 'charge:ch_card_doubt'`,
  ],
  [
    'move_in_doubt_is_before_a_human',
    { top_up_id: 'tu_fill_doubt' },
    `delete from dead_letters where workflow_id = 'top_up:tu_fill_doubt'`,
  ],
  [
    'move_is_under_way',
    { payout_id: 'test:asked:2026-11-30' },
    `update payouts set created_at = ${DAY_AGO}, updated_at = ${DAY_AGO}`,
  ],
  [
    'move_requested_once',
    { top_up_id: 'tu_filled' },
    `delete from outbox where event_type = 'top_up.requested' and aggregate_id = 'tu_filled'`,
  ],
  [
    'move_requested_once',
    { payout_id: STUBBORN },
    `delete from outbox where id = (select max(id) from outbox where event_type = 'payout.paid' and payload->>'payout_id' = '${STUBBORN}')`,
  ],
  ['charge_history', { charge_id: 'ch_charged' }, `update charges set status = 'pending' where id = 'ch_charged'`],
  [
    'charge_history',
    { charge_id: 'ch_charged' },
    `insert into state_transitions (machine, object_id, from_status, to_status, cause) values ('charge', 'ch_charged', 'succeeded', 'pending', 'x')`,
  ],
  ['top_up_history', { top_up_id: 'tu_filled' }, `update top_ups set status = 'failed' where id = 'tu_filled'`],
  ['card_payment_agrees', { charge_id: 'ch_charged' }, `update charges set status = 'failed' where id = 'ch_charged'`],
  ['card_payment_agrees', { charge_id: 'ch_failing' }, `update charges set status = 'pending' where id = 'ch_failing'`],
  ['card_payment_agrees', { top_up_id: 'tu_coming' }, `update top_ups set status = 'succeeded' where id = 'tu_coming'`],
  [
    'card_payment_agrees',
    { charge_id: 'ch_charged' },
    `insert into payments (source, payment_id, order_id, status, reference) values ('sim', 'pay_twice', 'ord_charged', 'captured', 'charge:ch_charged')`,
  ],
  [
    'card_payment_agrees',
    { top_up_id: 'tu_filled' },
    `update payments set purpose = 'order' where payment_id = 'pay_tu_filled'`,
  ],

  ['wallet_balance', { wallet_id: 'wal_filled' }, `update wallets set balance = balance + 1 where id = 'wal_filled'`],
  ['wallet_balance', { wallet_id: 'wal_given_back' }, `delete from wallet_entries where refund_id = 'rf_given_back'`],
  ['wallets_account', {}, `update wallets set balance = balance + 1 where id = 'wal_filled'`],
  [
    'wallet_entry_is_posted',
    { wallet_id: 'wal_filled', payment_id: 'pay_tu_filled' },
    `update ledger_entries set account = 'sales' where payment_id = 'pay_tu_filled' and account = 'wallets'`,
  ],
  [
    'wallet_entry_is_posted',
    { posting: 'captured:sim:pay_yen' },
    `update ledger_entries set account = 'wallets' where source_event_id = 'captured:sim:pay_yen' and account = 'sales'`,
  ],
  [
    'top_up_credited_once',
    { payment_id: 'pay_tu_filled' },
    `delete from wallet_entries where payment_id = 'pay_tu_filled'`,
  ],
  [
    'top_up_credited_once',
    { payment_id: 'pay_tu_filled' },
    `insert into wallet_entries (wallet_id, source_event_id, amount, currency, source, payment_id)
     select wallet_id, 'evt_again', amount, currency, source, payment_id from wallet_entries where payment_id = 'pay_tu_filled'`,
  ],
  [
    'top_up_credited_once',
    { payment_id: 'pay_tu_filled' },
    `update wallet_entries set wallet_id = 'wal_poor' where payment_id = 'pay_tu_filled'`,
  ],
  [
    'top_up_credited_once',
    { payment_id: 'pay:full' },
    `insert into wallet_entries (wallet_id, source_event_id, amount, currency, source, payment_id) values ('wal_filled', 'captured:sim:pay%3Afull', 1, 'EUR', 'sim', 'pay:full')`,
  ],
  [
    'captured_payment_has_one_fate',
    { payment_id: 'pay:full' },
    `insert into wallet_entries (wallet_id, source_event_id, amount, currency, source, payment_id) values ('wal_filled', 'captured:sim:pay%3Afull', 1, 'EUR', 'sim', 'pay:full')`,
  ],
  [
    'captured_payment_has_one_fate',
    { payment_id: 'pay_tu_filled' },
    `delete from wallet_entries where payment_id = 'pay_tu_filled'`,
  ],
  [
    'wallet_debit_is_a_refund',
    { refund_id: 'rf_given_back' },
    `update refunds set status = 'pending' where id = 'rf_given_back'`,
  ],
  [
    'wallet_debit_is_a_refund',
    { refund_id: 'rf_given_back' },
    `update wallet_entries set amount = -4001 where refund_id = 'rf_given_back'`,
  ],
  [
    'wallet_debit_is_a_refund',
    { wallet_id: 'wal_filled' },
    `insert into wallet_entries (wallet_id, source_event_id, amount, currency) values ('wal_filled', 'spent', -5, 'EUR')`,
  ],
  [
    'wallet_debit_is_a_refund',
    { refund_id: 'rf_took_back' },
    `delete from wallet_entries where source_event_id = 'refund_returned:rf_took_back'`,
  ],

  [
    'decision_is_recorded',
    { dead_letter_id: 'late_capture:sim:pay_revived' },
    `delete from state_transitions where machine = 'dead_letter' and object_id = 'late_capture:sim:pay_revived'`,
  ],
  [
    'decision_is_recorded',
    { dead_letter_id: 'late_capture:sim:pay_revived' },
    `delete from outbox where event_type = 'dead_letter.decided' and aggregate_id = 'late_capture:sim:pay_revived'`,
  ],
  [
    'decision_is_recorded',
    { dead_letter_id: 'outcome_unknown:extra_capture%3Asim%3Apay_doubt_2' },
    `update dead_letters set status = 'decided', closed_at = now() where id = 'outcome_unknown:extra_capture%3Asim%3Apay_doubt_2'`,
  ],
  // What only a person may do counts as a breach where no person did it.
  [
    'captured_payment_has_one_fate',
    { payment_id: 'pay_nobody' },
    `delete from state_transitions where machine = 'dead_letter' and payment_id = 'pay_nobody'`,
  ],
  [
    'captured_payment_has_one_fate',
    { payment_id: 'pay_first_part' },
    `update state_transitions set cause = 'look' where machine = 'order' and object_id = 'ord_back_again'`,
  ],
  [
    'transition_has_a_name',
    { order_id: 'ord_revived' },
    `update state_transitions set cause = 'look' where machine = 'order' and object_id = 'ord_revived'`,
  ],
  [
    'transition_has_a_name',
    { object: 'rf_second_try' },
    `update state_transitions set cause = 'look' where machine = 'refund' and object_id = 'rf_second_try'`,
  ],
  [
    'order_expires_in_time',
    { order_id: 'ord_half_revived' },
    `update orders set expires_at = ${DAY_AGO} where id = 'ord_half_revived'`,
    `delete from state_transitions where machine = 'order' and object_id = 'ord_half_revived'`,
  ],
  [
    'refund_posted_once',
    { refund_id: 'rf_second_try' },
    `update ledger_entries set source_event_id = 'refunded:rf_second_tries' where source_event_id = 'refunded:rf_second_try#2'`,
  ],
];
