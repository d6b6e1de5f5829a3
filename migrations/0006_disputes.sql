-- Disputes become rows of their own, with their money in the books; loyalty is judged by the rate at which it was earned.

-- What the event itself says of money: about a dispute of some gateways there is nothing else to ask.
alter table webhook_events add column amount bigint;
alter table webhook_events add column currency text;
alter table webhook_events add column fee bigint;

create table disputes (
  source text not null,
  -- the payment's id where the gateway gives its disputes none
  dispute_id text not null,
  payment_id text not null,
  -- null until the payment's order is there
  order_id text,
  status text not null check (status in ('opened', 'won', 'lost')),
  amount bigint not null check (amount > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- what the gateway has charged for it, all in all; its account's currency may be another one
  fee bigint not null default 0 check (fee >= 0),
  fee_currency text not null check (fee_currency ~ '^[A-Z]{3}$'),
  -- lost while the policy was to revoke: the money counts as given back, for what the order's consequences stand on
  revokes boolean not null default false check (not revokes or status = 'lost'),
  -- what of it stands in its order's amount_charged_back
  charged_back bigint not null default 0 check (charged_back >= 0),
  -- how often each was posted: the next posting's number, since a gateway may correct itself
  fee_postings integer not null default 0,
  corrections integer not null default 0,
  -- the gateway's own times; null where it was first heard of at its end
  opened_at timestamptz,
  closed_at timestamptz check ((closed_at is null) = (status = 'opened')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (source, dispute_id)
);
create index disputes_by_payment on disputes (source, payment_id);
create index disputes_by_order on disputes (order_id) where order_id is not null;

-- Lost disputes of counted payments that revoke: beside amount_refunded, what the order's money is no longer kept of.
alter table orders add column amount_charged_back bigint not null default 0 check (amount_charged_back >= 0);
-- In millionths of a point for a major unit; null for orders that were paid before this was written down.
alter table orders add column loyalty_rate bigint check (loyalty_rate >= 0);

-- Where loyalty_entries.refund_id, bookings.cancelled_by_refund and stopped_by_refund of gift_cards and packages name what took
-- something back, `dispute:{source}:{dispute_id}` may stand from now on.

-- Disputes that are known already are told anew from their events, which say everything: their payments are looked at again.
-- Until then the flag of their order stands as it is.
delete from state_transitions where machine = 'dispute';
update webhook_events
set amount = case when payload->'data'->>'amount' ~ '^[0-9]{1,16}$' then (payload->'data'->>'amount')::bigint end,
    currency = case when payload->'data'->>'currency' ~* '^[a-z]{3}$' then upper(payload->'data'->>'currency') end,
    fee = case when payload->'data'->>'fee' ~ '^[0-9]{1,16}$' then (payload->'data'->>'fee')::bigint end,
    look_again_at = date_trunc('milliseconds', now()), handed_over_at = null, next_look_at = null
where subject = 'dispute' and payment_id is not null and state in ('pending', 'processed');

-- Dead letters that came right by themselves, or were opened once more, get the history that is written from now on.
insert into state_transitions (machine, object_id, from_status, to_status, cause, order_id, source, payment_id, at)
select 'dead_letter', d.id, coalesce(h.to_status, 'open'), d.status, 'written down afterwards', d.order_id, d.source, d.payment_id,
       coalesce(d.closed_at, d.since)
from dead_letters d
left join lateral (
  select to_status from state_transitions t where t.machine = 'dead_letter' and t.object_id = d.id order by t.id desc limit 1) h on true
where d.status in ('open', 'recovered') and d.status <> coalesce(h.to_status, 'open');
