import { announcedWrongly, BY_A_PERSON, encoded, STUCK_AFTER, type Check } from './check.ts';

/** What our own calls move besides refunds, as far as all of them are alike. `gateway_id` is the gateway's object. */
const MOVES = `
  moves as (
    select 'payout' as kind, id, source, status, gateway_payout_id as gateway_id, created_at, updated_at,
           id as payout_id, null as charge_id, null as top_up_id, null as payment_id, null as order_id from payouts
    union all
    select 'charge', id, source, status, payment_id, created_at, updated_at, null, id, null, payment_id, order_id from charges
    union all
    select 'top_up', id, source, status, payment_id, created_at, updated_at, null, null, id, payment_id, null from top_ups
    union all
    select kind, id, source, status, case when placed_at is not null then payment_id end, created_at, updated_at, null, null, null,
           payment_id, order_id
    from (select 'capture' as kind, c.* from captures c union all select 'void', v.* from voids v) e)`;
const IDS = 'm.payout_id, m.charge_id, m.top_up_id, m.source, m.payment_id, m.order_id';

/** Payouts that had arrived and that the bank then sent back, and how often. */
const SENT_BACK = `
  sent_back as (
    select object_id as id, count(*) as n from state_transitions
    where machine = 'payout' and from_status = 'succeeded' and to_status = 'failed' group by object_id)`;

/** Payouts, charges and top-ups: begun once, in the books once, never in doubt without a human. */
export const MOVE_CHECKS: readonly Check[] = [
  {
    invariant: 'payout_posted_once',
    requirement: 'C2',
    promise:
      'Every payout stands in the books as often as it arrived, and the other way as often as the bank sent it back; nothing else does.',
    sql: `
      with ${SENT_BACK}, posted as (
        -- the id ends with a date: what follows '#' is the number of the attempt
        select regexp_replace(source_event_id, '#[0-9]+$', '') as posting, count(*) as times, min(source) as source,
               sum(case side when 'debit' then amount else -amount end) as amount, min(currency) as currency
        from ledger_entries where account = 'seller_payouts' group by 1
      ), due as (
        select p.id, p.source, p.currency, 'paid_out:' || p.id as posting, p.amount,
               coalesce(b.n, 0) + (p.status = 'succeeded')::int as times
        from payouts p left join sent_back b on b.id = p.id
        union all
        select p.id, p.source, p.currency, 'payout_returned:' || p.id, -p.amount, b.n
        from payouts p join sent_back b on b.id = p.id)
      select d.id as payout_id, coalesce(d.posting, p.posting) as posting, coalesce(d.source, p.source) as source,
             format('%s times %s %s due, posted %s times, %s %s in all', coalesce(d.times, 0), d.amount, d.currency, coalesce(p.times, 0),
                    coalesce(p.amount, 0), p.currency) as detail
      from due d full join posted p on p.posting = d.posting
      where coalesce(p.times, 0) <> coalesce(d.times, 0) or coalesce(p.amount, 0) <> coalesce(d.times * d.amount, 0)
         or p.currency <> d.currency or p.source <> d.source`,
  },
  {
    invariant: 'move_in_doubt_is_before_a_human',
    requirement: 'F5',
    promise:
      'A payout, charge, top-up, capture or void whose outcome is unknown, or that was refused, has a dead letter that is open or decided; so has a payout that failed.',
    sql: `
      with ${MOVES}, letters as (select distinct workflow_id from dead_letters where status in ('open', 'decided'))
      select ${IDS}, format('%s %s, and nobody is asked', m.kind, m.status) as detail
      from moves m left join letters d on d.workflow_id = m.kind || ':' || m.id
      where d.workflow_id is null and (m.status in ('unknown', 'needs_review') or m.kind = 'payout' and m.status = 'failed')`,
  },
  {
    invariant: 'move_is_under_way',
    requirement: 'E4',
    promise: 'A reserved payout, charge, top-up, capture or void was sent, or a human was asked, within an hour.',
    sql: `
      with ${MOVES}
      select ${IDS}, format('%s reserved at %s, and the gateway does not have it', m.kind, m.created_at) as detail
      from moves m
      where m.status = 'pending' and m.gateway_id is null and greatest(m.created_at, m.updated_at) < now() - ${STUCK_AFTER}`,
  },
  {
    invariant: 'move_requested_once',
    requirement: 'G1',
    promise:
      'Each payout, charge, top-up, capture and void has the one outbox row that starts it, and a payout is announced as paid as often as it arrived.',
    sql: `
      with ${MOVES}, ${SENT_BACK}, requested as (
        select event_type, aggregate_id, count(*) as n from outbox
        where event_type in ('payout.requested', 'charge.requested', 'top_up.requested', 'capture.requested', 'void.requested') group by event_type, aggregate_id
      ), paid as (
        select payload->>'payout_id' as id, count(*) as n from outbox where event_type = 'payout.paid' group by 1)
      select ${IDS}, format('%s %s: requested %s times, announced as paid %s times', m.kind, m.status, coalesce(r.n, 0), coalesce(p.n, 0)) as detail
      from moves m
      left join requested r on r.event_type = m.kind || '.requested' and r.aggregate_id = m.id
      left join paid p on p.id = m.payout_id
      left join sent_back b on b.id = m.payout_id
      where ${announcedWrongly('coalesce(r.n, 0)', '1', 'm.created_at')}
         or m.kind = 'payout' and ${announcedWrongly('coalesce(p.n, 0)', `(coalesce(b.n, 0) + (m.status = 'succeeded')::int)`, 'm.created_at')}`,
  },
  {
    invariant: 'card_payment_agrees',
    requirement: 'E4',
    promise:
      'A charge or top-up is what its payment is, has one captured payment at most, and only a person says otherwise.',
    sql: `
      with cards as (
        select 'charge' as kind, id, source, status, payment_id, order_id, reference from charges
        union all select 'top_up', id, source, status, payment_id, null, reference from top_ups
      ), named as (
        select source, reference, count(*) filter (where status = 'captured') as captured
        from payments where reference like 'charge:%' or reference like 'top_up:%' group by source, reference
      ), told as (
        -- the last word on it, if it was a person's
        select machine, object_id from (
          select distinct on (machine, object_id) machine, object_id, ${BY_A_PERSON} as decided from state_transitions
          where machine in ('charge', 'top_up') order by machine, object_id, id desc) s
        where decided)
      select case when c.kind = 'charge' then c.id end as charge_id, case when c.kind = 'top_up' then c.id end as top_up_id,
             c.source, c.payment_id, c.order_id,
             format('%s %s; its payment %s is %s; %s captured under its reference', c.kind, c.status, coalesce(c.payment_id, 'none'),
                    coalesce(p.status, 'not there'), coalesce(n.captured, 0)) as detail
      from cards c
      left join payments p on p.source = c.source and p.payment_id = c.payment_id
      left join named n on n.source = c.source and n.reference = c.reference
      left join told t on t.machine = c.kind and t.object_id = c.id
      where coalesce(n.captured, 0) > 1
         or t.object_id is null
            and case when c.status = 'succeeded' then p.status is distinct from 'captured'
                     when c.status = 'failed' then coalesce(n.captured, 0) > 0
                     else coalesce(p.status, '') in ('captured', 'failed', 'expired') or coalesce(n.captured, 0) > 0 end
         or p.payment_id is not null and (p.order_id is distinct from c.order_id or p.purpose <> case c.kind when 'charge' then 'order' else 'top_up' end)`,
  },
  {
    invariant: 'end_of_authorization_agrees',
    requirement: 'E7',
    promise:
      'A capture is what its payment is: succeeded where that was captured, failed where it was not; a void is the contrary. Of both of a payment one fails, unless a person says otherwise.',
    sql: `
      with ends as (
        select 'capture' as kind, id, source, payment_id, order_id, amount, currency, status, reference from captures
        union all select 'void', id, source, payment_id, order_id, amount, currency, status, reference from voids
      ), told as (
        select machine, object_id from (
          select distinct on (machine, object_id) machine, object_id, ${BY_A_PERSON} as decided from state_transitions
          where machine in ('capture', 'void') order by machine, object_id, id desc) s
        where decided)
      select e.source, e.payment_id, e.order_id,
             format('%s %s of %s %s; the payment is %s, %s %s; %s %s', e.kind, e.status, e.amount, e.currency, p.status, p.amount, p.currency,
                    coalesce(o.kind, 'nothing else'), o.status) as detail
      from ends e
      join payments p on p.source = e.source and p.payment_id = e.payment_id
      left join ends o on o.id = e.id and o.kind <> e.kind
      left join told t on t.machine = e.kind and t.object_id = e.id
      where e.id <> ${encoded('e.source')} || ':' || ${encoded('e.payment_id')} or e.reference <> e.kind || ':' || e.id
         or e.currency is distinct from p.currency
         or o.status <> 'failed' and e.status <> 'failed'
         or t.object_id is null
            and case e.status when 'succeeded' then (e.kind = 'capture') <> (p.status = 'captured') or p.status in ('pending', 'authorized')
                              when 'failed' then e.kind = 'capture' and p.status = 'captured'
                              else p.status in ('captured', 'failed', 'expired') end`,
  },
];
