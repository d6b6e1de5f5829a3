import { announcedWrongly, type Check } from './check.ts';

/** What people decided. */
export const DECISION_CHECKS: readonly Check[] = [
  {
    invariant: 'decision_is_recorded',
    requirement: 'F5',
    promise:
      'A decided dead letter says what was decided; each decision stands in the history with who and why, and is announced once.',
    sql: `
      with history as (
        select object_id as id, count(*) as n, min(at) as first from state_transitions
        where machine = 'dead_letter' and from_status = 'open' and to_status = 'decided' and cause like 'decided by %' and detail is not null
        group by object_id
      ), told as (
        select aggregate_id as id, count(*) as n from outbox where event_type = 'dead_letter.decided' group by aggregate_id)
      select d.id as dead_letter_id, d.source, d.payment_id, d.order_id,
             format('%s by %s; %s decisions in its history, announced %s times', d.status, coalesce(d.decision->>'action', 'nothing'),
                    coalesce(h.n, 0), coalesce(t.n, 0)) as detail
      from dead_letters d left join history h on h.id = d.id left join told t on t.id = d.id
      where (d.status = 'decided') <> (d.decision is not null) or (d.status = 'open') <> (d.closed_at is null)
         -- one that is open again keeps the history of what was decided before
         or d.status = 'decided' and h.n is null
         -- a moment after the transaction began, by whose time its announcement goes
         or ${announcedWrongly('coalesce(t.n, 0)', 'coalesce(h.n, 0)', `h.first - interval '1 minute'`)}`,
  },
];
