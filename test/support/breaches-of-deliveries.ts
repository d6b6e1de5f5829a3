import type { Breach } from './breach.ts';

const TOLD = `insert into consumer_deliveries (consumer, target, event_id, event_type, order_id, status, done_at, planned_at)`;
const PASSED = `insert into processed_events (consumer, event_id, outcome)`;
const DEAD = `${TOLD} values ('webhook', 'ep_1', 'outbox:1', 'order.paid', 'ord_full', 'dead', null, now())`;
const LETTER = `insert into dead_letters (id, kind, status, workflow_id, last_error, closed_at)`;

/** Breaches of what is known of those who were told of events. */
export const BREACHES_OF_DELIVERIES: readonly Breach[] = [
  [
    'delivery_passed_the_gate',
    { event_id: 'outbox:1', order_id: 'ord_full' },
    `${TOLD} values ('receipt', '-', 'outbox:1', 'order.paid', 'ord_full', 'done', now(), now())`,
  ],
  [
    'delivery_passed_the_gate',
    { event_id: 'outbox:1', order_id: 'ord_full' },
    `${TOLD} values ('webhook', 'ep_1', 'outbox:1', 'order.paid', 'ord_full', 'in_progress', null, now())`,
    `${PASSED} values ('webhook:ep_1', 'outbox:1', 'done')`,
  ],
  [
    'delivery_passed_the_gate',
    { event_id: 'outbox:1', order_id: 'ord_full' },
    `${PASSED} values ('webhook:ep_1', 'outbox:1', 'done')`,
    `${TOLD} values ('webhook', 'ep_1', 'outbox:1', 'order.paid', 'ord_full', 'done', null, now())`,
  ],
  ['delivery_passed_the_gate', { event_id: 'outbox:1' }, `${PASSED} values ('webhook:ep_1', 'outbox:1', 'done')`],
  ['dead_delivery_is_before_a_human', { event_id: 'outbox:1', order_id: 'ord_full' }, DEAD],
  [
    'dead_delivery_is_before_a_human',
    { event_id: 'outbox:1' },
    DEAD,
    `${LETTER} values ('delivery_failed:webhook:ep_1:outbox%3A1', 'delivery_failed', 'recovered', 'outbox:1', 'x', now())`,
  ],
  [
    'delivery_is_not_stuck',
    { event_id: 'outbox:1', order_id: 'ord_full' },
    `${TOLD} values ('receipt', '-', 'outbox:1', 'order.paid', 'ord_full', 'in_progress', null, now() - interval '2 days')`,
  ],
];
