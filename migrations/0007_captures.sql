-- Up Migration

-- Captures and voids of authorised payments: the row is reserved before anything is sent. A payment has one of each at
-- most, and its id is that of the payment; what the payment came to stands in payments.

create table captures (
  id text primary key,
  source text not null,
  payment_id text not null,
  order_id text,
  amount bigint not null check (amount > 0),
  currency text not null,
  status text not null check (status in ('pending', 'succeeded', 'failed', 'unknown', 'needs_review')),
  reference text not null unique,
  -- the gateway has taken the call: only what the payment came to is missing
  placed_at timestamptz,
  failure_code text,
  last_error text,
  requested_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (source, payment_id)
);

create table voids (
  id text primary key,
  source text not null,
  payment_id text not null,
  order_id text,
  amount bigint not null check (amount > 0),
  currency text not null,
  status text not null check (status in ('pending', 'succeeded', 'failed', 'unknown', 'needs_review')),
  reference text not null unique,
  placed_at timestamptz,
  failure_code text,
  last_error text,
  requested_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (source, payment_id)
);

-- Two more machines beside those that are known by then.
do $$
declare
  known text;
begin
  select pg_get_constraintdef(oid) into strict known from pg_constraint
  where conrelid = 'state_transitions'::regclass and conname = 'state_transitions_machine_check';
  alter table state_transitions drop constraint state_transitions_machine_check;
  execute 'alter table state_transitions add constraint state_transitions_machine_check '
    || replace(known, 'ARRAY[', $list$ARRAY['capture'::text, 'void'::text, $list$);
end
$$;
