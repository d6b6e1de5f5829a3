import { announcedWrongly, encoded, STUCK_AFTER, type Check } from './check.ts';

const SIGNED = `case e.side when 'debit' then e.amount else -e.amount end`;
const IDS = 'd.order_id, d.source, d.payment_id, d.dispute_id';
/** `disputeName` of src/domain/keys.ts. */
const NAME = `${encoded('d.source')} || ':' || ${encoded('d.dispute_id')}`;

/** What customers contest: known to its order, in the books as it stands, told once. */
export const DISPUTE_CHECKS: readonly Check[] = [
  {
    invariant: 'order_disputed',
    requirement: 'H1',
    promise: 'An order is flagged as disputed exactly while a dispute of one of its payments is open or lost.',
    sql: `
      select o.id as order_id, format('disputed is %s, with %s disputes open or lost', o.disputed, coalesce(d.n, 0)) as detail
      from orders o
      left join (select order_id, count(*) as n from disputes where status <> 'won' group by order_id) d on d.order_id = o.id
      where o.disputed <> (coalesce(d.n, 0) > 0)`,
  },
  {
    invariant: 'dispute_of_its_payment',
    requirement: 'B7',
    promise:
      'Every dispute is about a payment that is known, and belongs to the order of that payment once it is there.',
    sql: `
      select ${IDS}, format('its payment is %s, for order %s', coalesce(p.status, 'not known'), coalesce(p.order_id, 'none')) as detail
      from disputes d
      left join payments p on p.source = d.source and p.payment_id = d.payment_id
      left join orders o on o.id = p.order_id
      where p.payment_id is null or d.order_id is distinct from o.id and (d.order_id is not null or o.created_at < now() - ${STUCK_AFTER})`,
  },
  {
    invariant: 'event_has_its_dispute',
    requirement: 'C1',
    promise: 'Every event about a dispute that was acted on has left its dispute.',
    sql: `
      select e.source, e.event_id, e.payment_id, e.order_id, format('%s of dispute %s, which is not there', e.event_type, coalesce(e.object_id, 'without an id')) as detail
      from webhook_events e
      left join disputes d on d.source = e.source and d.dispute_id = coalesce(e.object_id, e.payment_id)
      where e.subject = 'dispute' and e.state = 'processed' and e.object_id is not null and d.dispute_id is null
        -- those from before disputes were kept are looked at anew
        and e.look_again_at is null`,
  },
  {
    invariant: 'dispute_in_the_books',
    requirement: 'C2',
    promise:
      'The books withhold what an open dispute contests and the gateway keeps back, have lost what a lost one did and no wallet gave back, hold nothing of one that was won, and the fees are what the gateway charged.',
    sql: `
      with posted as (
        select regexp_replace(regexp_replace(e.source_event_id, '^dispute_[a-z]+:', ''), '#[0-9]+$', '') as name,
               coalesce(sum(${SIGNED}) filter (where e.account = 'disputed_funds'), 0) as withheld,
               coalesce(sum(${SIGNED}) filter (where e.account = 'chargeback_losses'), 0) as lost,
               coalesce(sum(${SIGNED}) filter (where e.account = 'dispute_fees'), 0) as fee,
               bool_or(e.source_event_id !~ '^dispute_[a-z]+:') as astray,
               min(e.source) as source, min(e.payment_id) as payment_id
        from ledger_entries e where e.account in ('disputed_funds', 'chargeback_losses', 'dispute_fees') group by 1
      ), due as (
        select ${IDS}, d.status, replace(${NAME}, '#', '%23') as name,
               case when d.status = 'opened' and d.withheld then d.amount else 0 end as withheld,
               case d.status when 'lost' then d.amount else 0 end - case when d.order_id is null then d.charged_back else 0 end as lost, d.fee
        from disputes d)
      select d.order_id, coalesce(d.source, p.source) as source, coalesce(d.payment_id, p.payment_id) as payment_id, d.dispute_id,
             format('%s: withheld %s, lost %s, fees %s; due %s, %s, %s', coalesce(d.status, 'no such dispute'), coalesce(p.withheld, 0),
                    coalesce(p.lost, 0), coalesce(p.fee, 0), coalesce(d.withheld, 0), coalesce(d.lost, 0), coalesce(d.fee, 0)) as detail
      from due d full join posted p on p.name = d.name
      where (coalesce(p.withheld, 0), coalesce(p.lost, 0), coalesce(p.fee, 0))
            is distinct from (coalesce(d.withheld, 0), coalesce(d.lost, 0), coalesce(d.fee, 0)) or p.astray`,
  },
  {
    invariant: 'dispute_announced_once',
    requirement: 'G1',
    promise:
      'Every dispute is announced as opened, won or lost as often as it came to that: as opened once, unless an inquiry ended and became a dispute.',
    sql: `
      with told as (
        select payload->>'source' as source, payload->>'dispute_id' as dispute_id, event_type, count(*) as n
        from outbox where event_type in ('dispute.opened', 'dispute.won', 'dispute.lost') group by 1, 2, 3
      ), became as (
        select object_id, 'dispute.' || to_status as event_type, count(*) as n, min(at) as first
        from state_transitions where machine = 'dispute' group by 1, 2
      ), due as (
        select ${IDS}, k.event_type, coalesce(b.n, 0) as n, b.first
        from disputes d
        cross join (values ('dispute.opened'), ('dispute.won'), ('dispute.lost')) as k (event_type)
        left join became b on b.object_id = ${NAME} and b.event_type = k.event_type)
      select d.order_id, coalesce(d.source, t.source) as source, d.payment_id, coalesce(d.dispute_id, t.dispute_id) as dispute_id,
             format('%s announced %s times, came about %s times', coalesce(d.event_type, t.event_type), coalesce(t.n, 0), coalesce(d.n, 0)) as detail
      from due d full join told t on t.source = d.source and t.dispute_id = d.dispute_id and t.event_type = d.event_type
      -- a moment after the transaction began, by whose time its announcement goes
      where ${announcedWrongly('coalesce(t.n, 0)', 'coalesce(d.n, 0)', `d.first - interval '1 minute'`)}`,
  },
  {
    invariant: 'order_amount_charged_back',
    requirement: 'C4',
    promise: "An order's amount_charged_back is the sum of the lost disputes of its counted payments that revoke.",
    sql: `
      with due as (
        select d.order_id, sum(d.amount) as amount, bool_or(d.charged_back <> d.amount) as astray
        from disputes d
        join order_payments c on c.source = d.source and c.payment_id = d.payment_id and c.order_id = d.order_id
        join orders o on o.id = d.order_id and o.currency = d.currency
        where d.revokes group by d.order_id)
      select o.id as order_id, format('amount_charged_back is %s, the disputes add up to %s', o.amount_charged_back, coalesce(d.amount, 0)) as detail
      from orders o left join due d on d.order_id = o.id
      where o.amount_charged_back <> coalesce(d.amount, 0) or d.astray`,
  },
  {
    invariant: 'top_up_charged_back',
    requirement: 'C4',
    promise:
      'A lost dispute of a top-up that revokes took its amount back, from the wallet that the top-up filled or as a debt of its customer; no other took anything.',
    sql: `
      select d.source, d.payment_id, d.dispute_id, c.wallet_id,
             format('took back %s of %s, %s in the books', d.charged_back, d.amount, coalesce(b.amount, 0)) as detail
      from disputes d
      left join wallet_entries c on c.refund_id is null and c.currency = d.currency
        and c.source_event_id = 'captured:' || ${encoded('d.source')} || ':' || ${encoded('d.payment_id')}
      left join (
        select regexp_replace(regexp_replace(source_event_id, '^dispute_[a-z]+:', ''), '#[0-9]+$', '') as name,
               sum(case side when 'debit' then amount else -amount end) as amount
        from ledger_entries where account in ('wallets', 'wallet_shortfall') and source_event_id ~ '^dispute_(revoked|restored):' group by 1
      ) b on b.name = replace(${NAME}, '#', '%23')
      where d.order_id is null and d.charged_back <> case when d.revokes and c.wallet_id is not null then d.amount else 0 end
         or coalesce(b.amount, 0) <> case when d.order_id is null then d.charged_back else 0 end`,
  },
];
