import { STUCK_AFTER, encoded, type Check } from './check.ts';

/** As `gateConsumer`, `deliveryDeadLetterId`, and for people. */
const GATE_CONSUMER = `${encoded('c.consumer')} || case when c.target = '-' then '' else ':' || ${encoded('c.target')} end`;
const DEAD_LETTER = `'delivery_failed:' || ${encoded('c.consumer')} || ':' || ${encoded('c.target')} || ':' || ${encoded('c.event_id')}`;
const WHAT = `c.consumer || ' ' || c.target`;

/** Who was told of what was announced. */
export const DELIVERY_CHECKS: readonly Check[] = [
  {
    invariant: 'delivery_passed_the_gate',
    requirement: 'G3',
    promise:
      'Every delivery that is done has its gate row and a time; a gate row of an event of ours has a delivery that was done.',
    sql: `
      with told as (
        select c.event_id, c.order_id, c.source, c.payment_id, c.status, c.done_at, ${WHAT} as what, ${GATE_CONSUMER} as gate
        from consumer_deliveries c
      ), passed as (select consumer, event_id from processed_events where event_id like 'outbox:%' and consumer <> 'payments')
      select coalesce(t.event_id, p.event_id) as event_id, t.order_id, t.source, t.payment_id,
             case when t.event_id is null then format('%s passed the gate, and was never told', p.consumer)
                  else format('%s is %s, done at %s; at the gate: %s', t.what, t.status, coalesce(t.done_at::text, 'no time'),
                              case when p.event_id is null then 'nothing' else 'done' end) end as detail
      from told t full join passed p on p.event_id = t.event_id and p.consumer = t.gate
      where t.event_id is null or (t.status = 'done' and t.done_at is null) or (t.done_at is null) <> (p.event_id is null)`,
  },
  {
    invariant: 'dead_delivery_is_before_a_human',
    requirement: 'F5',
    promise: 'A delivery whose tries are used up has an open dead letter, which names its workflow.',
    sql: `
      select c.event_id, c.order_id, c.source, c.payment_id, format('%s is dead: %s', ${WHAT}, coalesce(d.status, 'no dead letter')) as detail
      from consumer_deliveries c left join dead_letters d on d.id = ${DEAD_LETTER}
      where c.status = 'dead' and (d.status is distinct from 'open' or d.workflow_id is distinct from c.event_id)`,
  },
  {
    invariant: 'delivery_is_not_stuck',
    requirement: 'G3',
    // The longest that a receiver can ask for, and that any consumer waits.
    promise: 'A delivery that is in progress is tried at least once a day.',
    sql: `
      select c.event_id, c.order_id, c.source, c.payment_id,
             format('%s since %s, tried %s times, last at %s: %s', ${WHAT}, planned_at, attempts, coalesce(last_attempt_at::text, 'no time'), coalesce(last_error, 'no error')) as detail
      from consumer_deliveries c
      where status = 'in_progress' and coalesce(last_attempt_at, planned_at) < now() - interval '1 day' - ${STUCK_AFTER}`,
  },
];
