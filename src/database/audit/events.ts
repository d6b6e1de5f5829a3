import { encoded, STUCK_AFTER, type Check } from './check.ts';

const QUALIFIED = `${encoded('e.source')} || ':' || ${encoded('e.event_id')}`;

/** What came in, and that each of it was acted on once, was put aside with a reason, or still waits within its time. */
export const EVENT_CHECKS: readonly Check[] = [
  {
    invariant: 'event_passed_the_gate',
    requirement: 'C1',
    promise: 'Every processed or ignored event has its gate row with the same outcome; a pending or held one has none.',
    sql: `
      with gate as (select event_id, outcome from processed_events where consumer = 'payments'),
           events as (select e.source, e.event_id, e.payment_id, e.order_id, e.state, e.outcome, ${QUALIFIED} as qualified from webhook_events e)
      select e.source, coalesce(e.event_id, g.event_id) as event_id, e.payment_id, e.order_id,
             case when e.event_id is null then 'there is a gate row, and no such event'
                  else format('%s with outcome %s; at the gate: %s', e.state, coalesce(e.outcome, 'none'), coalesce(g.outcome, 'nothing')) end as detail
      from events e full join gate g on g.event_id = e.qualified
      where case when e.state in ('processed', 'ignored') then g.outcome is null or e.outcome is null or g.outcome <> e.outcome
                 else g.event_id is not null end`,
  },
  {
    invariant: 'processed_at_says_so',
    requirement: 'A5',
    promise: 'An event has a time of processing exactly if it was processed or ignored.',
    sql: `
      select source, event_id, payment_id, order_id, format('%s, processed at %s', state, coalesce(processed_at::text, 'no time')) as detail
      from webhook_events where (processed_at is not null) <> (state in ('processed', 'ignored'))`,
  },
  {
    invariant: 'event_is_not_stuck',
    requirement: 'A5',
    promise: 'No event waits for more than an hour without a later time at which it is looked at.',
    sql: `
      select source, event_id, payment_id, order_id,
             format('pending since %s, handed over %s, %s attempts: %s', received_at, coalesce(handed_over_at::text, 'never'), attempts, coalesce(last_error, 'no error')) as detail
      from webhook_events
      where (state = 'pending' and received_at < now() - ${STUCK_AFTER} or look_again_at < now() - ${STUCK_AFTER})
        and (next_look_at is null or next_look_at < now() - ${STUCK_AFTER})`,
  },
  {
    invariant: 'held_event_is_before_a_human',
    requirement: 'A7',
    promise:
      "Every held event has a dead letter, its own or its payment's; one that is to be read anew is before a person again within the hour.",
    sql: `
      select e.source, e.event_id, e.payment_id, e.order_id, format('held: %s', coalesce(e.last_error, 'no reason')) as detail
      from webhook_events e
      where e.state = 'held'
        and not exists (select from dead_letters d where d.source = e.source
                        and (d.event_id = e.event_id or d.payment_id = e.payment_id)
                        and (d.status = 'open' or d.status = 'decided'
                             and (e.payment_id is not null or d.closed_at > now() - ${STUCK_AFTER})))`,
  },
  {
    invariant: 'delivery_has_its_event',
    requirement: 'A3',
    promise: 'Every delivery belongs to an event.',
    sql: `
      select d.source, d.event_id, format('%s deliveries, and no event', count(*)) as detail
      from webhook_deliveries d
      where not exists (select from webhook_events e where e.source = d.source and e.event_id = d.event_id)
      group by d.source, d.event_id`,
  },
  {
    invariant: 'event_was_delivered',
    requirement: 'A3',
    promise: 'Every event of the last 35 days has its deliveries, the one with its own bytes among them.',
    sql: `
      select e.source, e.event_id, e.payment_id, e.order_id, 'no delivery with its bytes' as detail
      from webhook_events e
      where e.received_at > now() - interval '35 days'
        and not exists (select from webhook_deliveries d where d.source = e.source and d.event_id = e.event_id and sha256(d.body) = e.body_sha256)`,
  },
  {
    invariant: 'found_bytes_are_of_a_found_event',
    requirement: 'H2',
    promise: 'What was found at the gateway and never came is kept once, and its event says so.',
    sql: `
      select d.source, d.event_id, e.payment_id, e.order_id,
             format('%s times kept as found; found at %s', count(*), coalesce(e.found_at::text, 'no time')) as detail
      from webhook_deliveries d left join webhook_events e using (source, event_id)
      where d.found
      group by d.source, d.event_id, e.payment_id, e.order_id, e.found_at having count(*) > 1 or e.found_at is null`,
  },
  {
    invariant: 'other_bytes_are_marked',
    requirement: 'A4',
    promise: 'A delivery is marked as differing exactly if its bytes are not those of the first delivery.',
    sql: `
      select d.source, d.event_id, e.payment_id, e.order_id, format('received at %s, differs is %s', d.received_at, d.differs) as detail
      from webhook_deliveries d join webhook_events e using (source, event_id)
      where not d.found and d.differs <> (sha256(d.body) <> e.body_sha256)
        -- of two copies that race, the later one is compared in a statement of its own
        and d.received_at < now() - interval '1 minute'`,
  },
];
