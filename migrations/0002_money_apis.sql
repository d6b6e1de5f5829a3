-- Up Migration

-- Payouts, saved-card charges and wallet top-ups: each row is reserved before anything is sent, and carries our
-- reference, under which the gateway is asked before it is told.

create table payouts (
  id text primary key,
  mode text not null check (mode in ('test', 'live')),
  source text not null,
  seller_id text not null,
  settlement_date date not null,
  amount bigint not null check (amount > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  destination text not null,
  status text not null check (status in ('pending', 'succeeded', 'failed', 'unknown', 'needs_review')),
  reference text not null unique,
  gateway_payout_id text,
  failure_code text,
  last_error text,
  requested_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- one payout per seller and day, however often it is asked for (E5)
  unique (mode, seller_id, settlement_date),
  unique (source, gateway_payout_id)
);

create table charges (
  id text primary key,
  source text not null,
  order_id text not null references orders (id),
  customer_id text not null,
  payment_method text not null,
  amount bigint not null check (amount > 0),
  currency text not null,
  status text not null check (status in ('pending', 'succeeded', 'failed', 'unknown', 'needs_review')),
  reference text not null unique,
  payment_id text,
  failure_code text,
  last_error text,
  requested_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (source, payment_id)
);
create index charges_by_order on charges (order_id);

create table wallets (
  id text primary key check (length(id) between 1 and 200),
  customer_id text not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  balance bigint not null default 0 check (balance >= 0),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table top_ups (
  id text primary key,
  source text not null,
  wallet_id text not null references wallets (id),
  customer_id text not null,
  payment_method text not null,
  amount bigint not null check (amount > 0),
  currency text not null,
  status text not null check (status in ('pending', 'succeeded', 'failed', 'unknown', 'needs_review')),
  reference text not null unique,
  payment_id text,
  failure_code text,
  last_error text,
  requested_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (source, payment_id)
);
create index top_ups_by_wallet on top_ups (wallet_id);

-- Unique by the business event: the API's answer and the gateway's webhook meet on one key, whichever is first.
create table wallet_entries (
  id bigint generated always as identity primary key,
  wallet_id text not null references wallets (id),
  source_event_id text not null unique,
  -- signed: credits are positive
  amount bigint not null check (amount <> 0),
  currency text not null,
  source text,
  payment_id text,
  refund_id text,
  at timestamptz not null default now()
);
create index wallet_entries_by_wallet on wallet_entries (wallet_id);

-- What a payment is for: from our reference (a top-up) or its order id.
alter table payments add column purpose text not null default 'order' check (purpose in ('order', 'top_up'));

alter table state_transitions drop constraint state_transitions_machine_check;
alter table state_transitions add constraint state_transitions_machine_check check (machine in
  ('order', 'payment', 'refund', 'checkout', 'dispute', 'dead_letter', 'payout', 'charge', 'top_up'));

alter table dead_letters add column payout_id text;
create index idempotency_keys_in_progress on idempotency_keys (leased_until) where status = 'in_progress';
create index idempotency_keys_completed on idempotency_keys (completed_at) where status = 'completed';

-- After a person ordered a new attempt: the gateway's objects of the attempts before, which it calls failed (F3).
alter table refunds add column superseded_gateway_ids text[] not null default '{}';
alter table payouts add column superseded_gateway_ids text[] not null default '{}';
