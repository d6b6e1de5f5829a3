import { announcedWrongly, STUCK_AFTER, type Check } from './check.ts';

/** What was announced, and what was promised to be started. */
export const OUTBOX_CHECKS: readonly Check[] = [
  {
    invariant: 'order_paid_announced_once',
    requirement: 'G1',
    promise: 'Every paid order is announced once, and no other order is, nor one that was imported.',
    sql: `
      select coalesce(o.id, x.aggregate_id) as order_id, format('%s, announced as paid %s times', coalesce(o.status, 'no such order'), coalesce(x.n, 0)) as detail
      from orders o
      full join (select aggregate_id, count(*) as n from outbox where event_type = 'order.paid' group by aggregate_id) x on x.aggregate_id = o.id
      where ${announcedWrongly('coalesce(x.n, 0)', `(coalesce(o.status, '') = 'paid' and o.imported_at is null)::int`, 'o.paid_at')}`,
  },
  {
    invariant: 'fulfilment_requested_once',
    requirement: 'G1',
    promise: 'Every product line of a paid order is asked to be fulfilled once, unless the order was imported.',
    sql: `
      with asked as (
        select aggregate_id as order_id, payload->>'line_id' as line_id, count(*) as n
        from outbox where event_type = 'fulfilment.requested' group by aggregate_id, payload->>'line_id'
      ), due as (
        select l.order_id, l.id as line_id, o.paid_at from order_lines l join orders o on o.id = l.order_id
        where l.kind = 'product' and o.status = 'paid' and o.imported_at is null)
      select coalesce(d.order_id, a.order_id) as order_id, coalesce(d.line_id, a.line_id) as line_id,
             format('asked for %s times, due %s times', coalesce(a.n, 0), (d.order_id is not null)::int) as detail
      from due d full join asked a on a.order_id = d.order_id and a.line_id = d.line_id
      where ${announcedWrongly('coalesce(a.n, 0)', '(d.order_id is not null)::int', 'd.paid_at')}`,
  },
  {
    invariant: 'versions_of_an_order',
    requirement: 'G1',
    promise: "The events about an order carry different versions, none beyond the order's own.",
    sql: `
      select o.id as order_id, format('%s events with %s versions up to %s; the order is at %s', count(*), count(distinct x.aggregate_version),
                                      max(x.aggregate_version), o.aggregate_version) as detail
      from outbox x join orders o on o.id = x.payload->>'order_id'
      group by o.id having count(*) <> count(distinct x.aggregate_version) or max(x.aggregate_version) > o.aggregate_version`,
  },
  {
    invariant: 'outbox_is_published',
    requirement: 'G2',
    promise: 'Every row of the outbox is published within an hour.',
    sql: `
      select id::text as outbox_id, payload->>'order_id' as order_id, format('%s since %s, %s attempts: %s', event_type, created_at, attempts, coalesce(last_error, 'no error')) as detail
      from outbox where published_at is null and created_at < now() - ${STUCK_AFTER}`,
  },
  {
    invariant: 'stored_answers_are_successes',
    requirement: 'E4',
    promise: 'The answers kept under Idempotency-Keys are 201 and 202, nothing else.',
    sql: `
      select format('%s under key %s of %s', response_code, key, scope) as detail
      from idempotency_keys where status = 'completed' and response_code not in (201, 202)`,
  },
];
