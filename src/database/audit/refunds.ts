import { HOLDING_REFUNDS } from '../holding-refunds.ts';
import { announcedWrongly, encoded, RETURNED, STUCK_AFTER, type Check } from './check.ts';

/** What had gone back of an imported order before this system ran: nobody is told of it. */
const IMPORTED = `starts_with(r.id, 'imported:')`;

/** Money on its way back: never too much, never twice, never in doubt without a human. */
export const REFUND_CHECKS: readonly Check[] = [
  {
    invariant: 'refunds_within_captured',
    requirement: 'E6',
    promise:
      'The refunds of a payment that hold their amount never exceed what was captured, unless a human is asked about it.',
    sql: `
      select r.source, r.payment_id, p.order_id, format('%s held of %s captured', r.amount, coalesce(p.amount, 0)) as detail
      from (select source, payment_id, sum(amount) as amount from refunds where status in ${HOLDING_REFUNDS} group by source, payment_id) r
      left join payments p on p.source = r.source and p.payment_id = r.payment_id and p.status = 'captured'
      where r.amount > coalesce(p.amount, 0)
        and not exists (select from dead_letters d where d.kind = 'refunds_exceed_captured' and d.status in ('open', 'decided')
                        and d.source = r.source and d.payment_id = r.payment_id)`,
  },
  {
    invariant: 'automatic_refund_once',
    requirement: 'D1',
    promise: 'The machine gives a payment back once, under a name that is derived from the payment.',
    sql: `
      select source, payment_id, min(order_id) as order_id, min(id) as refund_id, format('%s automatic refunds: %s', count(*), string_agg(id, ', ')) as detail
      from refunds where kind in ('extra_capture', 'late_capture')
      group by source, payment_id
      having count(*) > 1
          or bool_or(id <> kind || ':' || ${encoded('source')} || ':' || ${encoded('payment_id')} or reference is distinct from 'refund:' || id)`,
  },
  {
    invariant: 'automatic_refund_is_whole',
    requirement: 'D1',
    promise: 'An extra or late capture goes back whole, together with what others refunded of it.',
    sql: `
      select r.source, r.payment_id, r.order_id, r.id as refund_id, format('%s of %s captured goes back', s.amount, p.amount) as detail
      from refunds r
      join payments p on p.source = r.source and p.payment_id = r.payment_id
      join (
        select source, payment_id,
               -- one that failed after this one was reserved left a gap; a human knows of it
               sum(amount) filter (where status in ${HOLDING_REFUNDS}
                                     or status = 'failed' and kind not in ('extra_capture', 'late_capture')
                                        and exists (select from dead_letters d where d.refund_id = refunds.id and d.status in ('open', 'decided'))) as amount
        from refunds group by source, payment_id) s on s.source = r.source and s.payment_id = r.payment_id
      where r.kind in ('extra_capture', 'late_capture')
        and (r.status in ${HOLDING_REFUNDS} or r.failure_code = 'already_refunded') and coalesce(s.amount, 0) < p.amount`,
  },
  {
    invariant: 'money_in_doubt_is_before_a_human',
    requirement: 'F5',
    promise:
      'A refund whose outcome is unknown, that was refused, or that failed has a dead letter that is open or decided.',
    sql: `
      with letters as (
        select kind, source, payment_id, refund_id from dead_letters where status in ('open', 'decided'))
      select r.source, r.payment_id, r.order_id, r.id as refund_id,
             format('%s %s, and nobody is asked', r.status, coalesce(r.failure_code, '')) as detail
      from refunds r
      where (r.status in ('unknown', 'needs_review')
             or r.status = 'failed' and r.kind <> 'gateway' and r.failure_code is distinct from 'already_refunded')
        and not exists (select from letters d where d.refund_id = r.id)
        and not exists (select from letters d where (r.status = 'needs_review' or r.failure_code = 'refund_exceeds_captured') and d.kind = 'refunds_exceed_captured'
                        and d.source = r.source and d.payment_id = r.payment_id)`,
  },
  {
    invariant: 'refund_is_under_way',
    requirement: 'E4',
    promise: 'A reserved refund was sent, or a human was asked, within an hour.',
    sql: `
      select source, payment_id, order_id, id as refund_id, format('reserved at %s, and the gateway does not have it', created_at) as detail
      from refunds
      where status = 'pending' and gateway_refund_id is null and greatest(created_at, updated_at) < now() - ${STUCK_AFTER}`,
  },
  {
    invariant: 'refund_announced_once',
    requirement: 'G1',
    promise:
      'Each refund of ours has the one outbox row that starts it, and each that succeeded is announced once, and once more after each return by the bank.',
    sql: `
      with ${RETURNED}, announced as (
        select payload->>'refund_id' as refund_id,
               count(*) filter (where event_type = 'refund.requested' and aggregate_id = payload->>'refund_id') as requested,
               count(*) filter (where event_type = 'payment.extra_captured') as extra,
               count(*) filter (where event_type = 'refund.succeeded') as succeeded
        from outbox where event_type in ('refund.requested', 'payment.extra_captured', 'refund.succeeded')
        group by payload->>'refund_id')
      select r.source, r.payment_id, r.order_id, r.id as refund_id,
             format('%s %s: requested %s times, announced as extra %s times, as succeeded %s times', r.kind, r.status,
                    coalesce(a.requested, 0), coalesce(a.extra, 0), coalesce(a.succeeded, 0)) as detail
      from refunds r left join announced a on a.refund_id = r.id left join returned b on b.refund_id = r.id
      where ${announcedWrongly('coalesce(a.requested, 0)', `(r.kind <> 'gateway')::int`, 'r.created_at')} and not (coalesce(r.failure_code, '') = 'already_refunded' and coalesce(a.requested, 0) = 0)
         or ${announcedWrongly('coalesce(a.extra, 0)', `(r.kind = 'extra_capture')::int`, 'r.created_at')} and not (coalesce(r.failure_code, '') = 'already_refunded' and coalesce(a.extra, 0) = 0)
         or ${announcedWrongly('coalesce(a.succeeded, 0)', `(coalesce(b.n, 0) + (r.status = 'succeeded' and not ${IMPORTED})::int)`, 'r.created_at')}`,
  },
];
