-- Up Migration

-- What is told to others of the events that the outbox announces: who is told, and what became of it (G3).

-- Addresses of other services that receive signed webhooks.
create table endpoints (
  id text primary key,
  url text not null,
  -- names of announced types; '*' for all of them, those to come included
  event_types text[] not null check (cardinality(event_types) > 0),
  disabled boolean not null default false,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- Kept readable, since each try is signed with them; shown when they are made, and never again.
create table endpoint_secrets (
  endpoint_id text not null references endpoints (id),
  secret text not null,
  created_at timestamptz not null default clock_timestamp(),
  -- a rotated secret goes on for a while beside the new one, so that the receiver can change over
  expires_at timestamptz,
  primary key (endpoint_id, secret)
);

-- One row per consumer, target and event, made when the event is first taken up. The event's facts are repeated here, so that
-- a payment's timeline can still be read when its rows of the outbox are gone.
create table consumer_deliveries (
  consumer text not null,
  -- an endpoint's id, or '-'
  target text not null,
  -- outbox:{id}
  event_id text not null,
  n bigint generated always as identity unique,
  event_type text not null,
  order_id text,
  source text,
  payment_id text,
  -- in_progress: it is tried, or waits for its next try. dead: a person is asked. skipped: it is not sent, unless somebody asks for it
  status text not null check (status in ('in_progress', 'done', 'skipped', 'dead')),
  -- an attempt is under way until then
  leased_until timestamptz,
  attempts integer not null default 0,
  last_error text,
  -- what the target answered last, where it speaks HTTP
  last_status integer,
  planned_at timestamptz not null default now(),
  first_attempt_at timestamptz,
  last_attempt_at timestamptz,
  done_at timestamptz,
  primary key (consumer, target, event_id)
);
create index consumer_deliveries_by_event on consumer_deliveries (event_id);
create index consumer_deliveries_by_target on consumer_deliveries (consumer, target, n);
create index consumer_deliveries_by_payment on consumer_deliveries (source, payment_id);
create index consumer_deliveries_open on consumer_deliveries (planned_at) where status = 'in_progress';
