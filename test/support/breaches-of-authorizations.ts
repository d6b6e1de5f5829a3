import { type Breach, DAY_AGO } from './breach.ts';

/** Breaches of what captures and voids of authorised payments say. */
export const BREACHES_OF_AUTHORIZATIONS: readonly Breach[] = [
  [
    'capture_history',
    { payment_id: 'pay_capture_done' },
    `update captures set status = 'pending' where payment_id = 'pay_capture_done'`,
  ],
  [
    'capture_history',
    { payment_id: 'pay_capture_asked' },
    `delete from state_transitions where machine = 'capture' and payment_id = 'pay_capture_asked'`,
  ],
  [
    'void_history',
    { payment_id: 'pay_void_done' },
    `update voids set status = 'failed' where payment_id = 'pay_void_done'`,
  ],
  [
    'end_of_authorization_agrees',
    { payment_id: 'pay_capture_done' },
    `update captures set status = 'failed' where payment_id = 'pay_capture_done'`,
  ],
  [
    'end_of_authorization_agrees',
    { payment_id: 'pay_capture_asked' },
    `update captures set status = 'succeeded' where payment_id = 'pay_capture_asked'`,
  ],
  [
    'end_of_authorization_agrees',
    { payment_id: 'pay_capture_asked' },
    `update payments set status = 'captured' where payment_id = 'pay_capture_asked'`,
  ],
  [
    'end_of_authorization_agrees',
    { payment_id: 'pay_void_asked' },
    `update voids set status = 'succeeded' where payment_id = 'pay_void_asked'`,
  ],
  [
    'end_of_authorization_agrees',
    { payment_id: 'pay_void_in_vain' },
    `update voids set status = 'succeeded' where payment_id = 'pay_void_in_vain'`,
  ],
  [
    'end_of_authorization_agrees',
    { payment_id: 'pay_capture_refused' },
    `update captures set status = 'pending' where payment_id = 'pay_capture_refused'`,
  ],
  [
    'end_of_authorization_agrees',
    { payment_id: 'pay_capture_part' },
    `update captures set currency = 'USD' where payment_id = 'pay_capture_part'`,
  ],
  [
    'end_of_authorization_agrees',
    { payment_id: 'pay_void_done' },
    `update voids set reference = 'void:sim:another' where payment_id = 'pay_void_done'`,
  ],
  // What only a person may say counts as a breach where no person said it.
  [
    'end_of_authorization_agrees',
    { payment_id: 'pay_capture_told' },
    `update state_transitions set cause = 'look' where machine = 'capture' and payment_id = 'pay_capture_told'`,
  ],
  ...(['capture', 'void'] as const).flatMap((kind): Breach[] => [
    [
      'move_in_doubt_is_before_a_human',
      { payment_id: `pay_${kind}_doubt` },
      `delete from dead_letters where workflow_id = '${kind}:sim:pay_${kind}_doubt'`,
    ],
    [
      'move_is_under_way',
      { payment_id: `pay_${kind}_asked` },
      `update ${kind}s set created_at = ${DAY_AGO}, updated_at = ${DAY_AGO} where payment_id = 'pay_${kind}_asked'`,
    ],
    [
      'move_requested_once',
      { payment_id: `pay_${kind}_done` },
      `delete from outbox where event_type = '${kind}.requested' and aggregate_id = 'sim:pay_${kind}_done'`,
    ],
  ]),
];
