-- Up Migration

-- Money is bigint minor units beside its ISO 4217 code. Status lists are check constraints, so that a status nobody
-- named cannot be written. Identities are business facts (text); surrogate ids only where there is none.

create table orders (
  id text primary key check (length(id) between 1 and 200),
  status text not null check (status in
    ('pending_payment', 'payment_pending', 'partially_paid', 'paid', 'failed_final', 'cancelled', 'expired')),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  amount_due bigint not null check (amount_due >= 1),
  amount_paid bigint not null default 0 check (amount_paid >= 0),
  amount_refunded bigint not null default 0 check (amount_refunded >= 0),
  customer_id text not null,
  customer_email text,
  customer_name text,
  -- the payment that completed it
  paid_source text,
  paid_payment_id text,
  paid_at timestamptz,
  disputed boolean not null default false,
  expires_at timestamptz,
  checkout_count integer not null default 0,
  -- grows with every announced change; travels in the outbox
  aggregate_version bigint not null default 0,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (status <> 'paid' or (amount_paid >= amount_due and paid_at is not null and paid_source is not null
                           and paid_payment_id is not null))
);

create table order_lines (
  order_id text not null references orders (id),
  id text not null,
  position integer not null,
  kind text not null check (kind in
    ('booking', 'enrolment', 'gift_card', 'package', 'product', 'shipping', 'tax', 'discount')),
  amount bigint not null check (amount >= 0 or kind = 'discount'),
  quantity integer not null default 1 check (quantity >= 1),
  reference text,
  primary key (order_id, id)
);

-- One row per payment that counts for an order (B2). A payment with such a row is never refunded as extra.
create table order_payments (
  source text not null,
  payment_id text not null,
  order_id text not null references orders (id),
  amount bigint not null check (amount > 0),
  counted_at timestamptz not null default now(),
  -- who counted it: an event, a confirm call, a poll; lets a retried activity know its own work
  counted_by text not null,
  outcome text not null check (outcome in ('marked_paid', 'partially_paid')),
  primary key (source, payment_id)
);
create index order_payments_by_order on order_payments (order_id);

-- order_id names no foreign row: a payment may be known before its order is (B7).
create table payments (
  source text not null,
  payment_id text not null,
  order_id text,
  status text not null check (status in ('pending', 'authorized', 'captured', 'failed', 'expired')),
  amount bigint check (amount >= 0),
  currency text,
  reference text,
  -- sum of the refunds that stand succeeded, whoever began them
  amount_refunded bigint not null default 0 check (amount_refunded >= 0),
  outcome text,
  waiting_for text check (waiting_for in ('order', 'gateway')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (source, payment_id)
);
create index payments_by_order on payments (order_id);

create table refunds (
  id text primary key,
  source text not null,
  payment_id text not null,
  order_id text,
  kind text not null check (kind in ('requested', 'extra_capture', 'late_capture', 'gateway')),
  status text not null check (status in ('pending', 'succeeded', 'failed', 'unknown', 'needs_review')),
  amount bigint not null check (amount > 0),
  currency text not null,
  reason text,
  -- ours, the same in every attempt; a refund begun at the gateway may have none
  reference text unique,
  gateway_refund_id text,
  failure_code text,
  last_error text,
  requested_by text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (source, gateway_refund_id)
);
create index refunds_by_payment on refunds (source, payment_id);
create index refunds_by_order on refunds (order_id);
-- D1: once, ever; a payment is given back as extra or as late, not both
create unique index refunds_one_automatic on refunds (source, payment_id)
  where kind in ('extra_capture', 'late_capture');

-- The state of a call that moves money, kept so that nothing is sent twice whatever dies (F1, F2).
create table gateway_calls (
  reference text primary key,
  source text not null,
  attempt integer not null default 1,
  -- a create was sent and its answer never came
  unanswered_since timestamptz,
  -- the first look-up after that which found nothing
  absent_since timestamptz,
  sends integer not null default 0,
  updated_at timestamptz not null default now()
);

create table checkouts (
  order_id text not null references orders (id),
  n integer not null,
  source text not null,
  status text not null check (status in ('pending', 'succeeded', 'failed', 'unknown', 'needs_review')),
  amount bigint not null check (amount > 0),
  currency text not null,
  return_url text,
  payment_id text,
  checkout_url text,
  client_secret text,
  failure_code text,
  last_error text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (order_id, n)
);

-- The inbox and audit history (A3). Not partitioned: it dedupes.
create table webhook_events (
  source text not null,
  event_id text not null,
  event_type text not null,
  -- cleaned JSON, null where the body is not JSON; the bytes are in webhook_deliveries
  payload jsonb,
  subject text check (subject in ('payment', 'refund', 'dispute', 'payout')),
  object_id text,
  payment_id text,
  order_id text,
  claimed text,
  reference text,
  occurred_at timestamptz,
  body_sha256 bytea not null,
  state text not null check (state in ('pending', 'processed', 'ignored', 'held')),
  outcome text,
  received_at timestamptz not null default now(),
  handed_over_at timestamptz,
  processed_at timestamptz,
  attempts integer not null default 0,
  last_error text,
  next_look_at timestamptz,
  -- a repeat with other bytes, a replay, an order that appeared: facts without an event (C1)
  look_again_at timestamptz,
  -- the relay's claim
  claimed_until timestamptz,
  primary key (source, event_id)
);
create index webhook_events_by_payment on webhook_events (source, payment_id);
create index webhook_events_by_order on webhook_events (order_id);
create index webhook_events_by_time on webhook_events (received_at);
create index webhook_events_open on webhook_events (received_at)
  where state = 'pending' or look_again_at is not null;

-- Every delivery with the exact bytes (A3); old months are dropped whole.
create table webhook_deliveries (
  source text not null,
  event_id text not null,
  received_at timestamptz not null default now(),
  body bytea not null,
  headers jsonb not null,
  remote_address text,
  -- a repeat of a known id whose bytes are not the first ones (A4)
  differs boolean not null default false
) partition by range (received_at);
create index webhook_deliveries_by_event on webhook_deliveries (source, event_id, received_at);
create table webhook_deliveries_default partition of webhook_deliveries default;

-- Refused deliveries, counted by the hour (A1): bounded whatever is thrown at the door, and no body is kept.
create table webhook_refusals (
  source text not null,
  reason text not null,
  hour timestamptz not null,
  count bigint not null,
  last_at timestamptz not null,
  last_remote_address text,
  primary key (source, reason, hour)
);

-- The gate (C1). Never deleted: it is what was acted on.
create table processed_events (
  consumer text not null,
  event_id text not null,
  outcome text not null,
  processed_at timestamptz not null default now(),
  primary key (consumer, event_id)
);

-- Every named transition, with what caused it: the gate of facts that came without an event, and the history people read.
create table state_transitions (
  id bigint generated always as identity primary key,
  machine text not null check (machine in ('order', 'payment', 'refund', 'checkout', 'dispute', 'dead_letter')),
  object_id text not null,
  from_status text,
  to_status text not null,
  cause text not null,
  detail text,
  order_id text,
  source text,
  payment_id text,
  at timestamptz not null default clock_timestamp()
);
create index state_transitions_by_payment on state_transitions (source, payment_id);
create index state_transitions_by_object on state_transitions (machine, object_id);

create table outbox (
  id bigint generated always as identity primary key,
  event_type text not null,
  aggregate_id text not null,
  aggregate_version bigint not null,
  payload jsonb not null,
  created_at timestamptz not null default now(),
  published_at timestamptz,
  attempts integer not null default 0,
  claimed_until timestamptz,
  last_error text
);
create index outbox_unpublished on outbox (id) where published_at is null;
create index outbox_by_aggregate on outbox (aggregate_id);

create table dead_letters (
  id text primary key,
  kind text not null check (kind in
    ('refund_failed', 'payout_failed', 'outcome_unknown', 'wrong_currency', 'late_capture', 'order_not_payable',
     'unmatched_payment', 'unknown_at_gateway', 'event_unreadable', 'delivery_failed', 'refunds_exceed_captured')),
  status text not null default 'open' check (status in ('open', 'decided', 'recovered')),
  source text,
  event_id text,
  order_id text,
  payment_id text,
  refund_id text,
  amount bigint,
  currency text,
  last_error text not null,
  -- the workflow that waits for the decision, where there is one
  workflow_id text,
  extra_capture boolean not null default false,
  since timestamptz not null default now(),
  closed_at timestamptz,
  decision jsonb
);
create index dead_letters_open on dead_letters (extra_capture desc, since) where status = 'open';
create index dead_letters_by_payment on dead_letters (source, payment_id);

-- Consequences (C2, C3): each with a key of its own, so that code which fires twice doubles nothing.
create table bookings (
  order_id text not null,
  line_id text not null,
  kind text not null check (kind in ('booking', 'enrolment')),
  reference text,
  status text not null check (status in ('confirmed', 'cancelled')),
  confirmed_at timestamptz not null default now(),
  cancelled_by_refund text,
  cancelled_at timestamptz,
  primary key (order_id, line_id),
  foreign key (order_id, line_id) references order_lines (order_id, id)
);

create table loyalty_entries (
  id bigint generated always as identity primary key,
  order_id text not null references orders (id),
  customer_id text not null,
  source text not null,
  payment_id text not null,
  refund_id text,
  -- which change of the refund: it counted, or it was returned by the bank
  refund_change text check (refund_change in ('succeeded', 'returned')),
  points bigint not null,
  created_at timestamptz not null default now(),
  unique nulls not distinct (source, payment_id, refund_id, refund_change)
);
create index loyalty_entries_by_order on loyalty_entries (order_id);
-- one earning per order (C4)
create unique index loyalty_entries_one_earning on loyalty_entries (order_id) where refund_id is null;

create table gift_cards (
  order_id text not null,
  line_id text not null,
  unit integer not null,
  amount bigint not null check (amount >= 0),
  remaining bigint not null check (remaining between 0 and amount),
  currency text not null,
  status text not null check (status in ('active', 'limited', 'disabled')),
  issued_at timestamptz not null default now(),
  stopped_by_refund text,
  primary key (order_id, line_id, unit),
  foreign key (order_id, line_id) references order_lines (order_id, id)
);

create table packages (
  order_id text not null,
  line_id text not null,
  unit integer not null,
  reference text,
  status text not null check (status in ('active', 'disabled')),
  issued_at timestamptz not null default now(),
  stopped_by_refund text,
  primary key (order_id, line_id, unit),
  foreign key (order_id, line_id) references order_lines (order_id, id)
);

-- Numbers are unique and increasing with gaps: a gapless counter would serialise every payment.
create table invoices (
  number bigint generated always as identity (start with 1001) primary key,
  order_id text not null references orders (id),
  kind text not null check (kind in ('invoice', 'credit_note')),
  amount bigint not null,
  currency text not null,
  refund_id text,
  issued_at timestamptz not null default now(),
  check ((kind = 'credit_note') = (refund_id is not null))
);
create unique index invoices_one_per_order on invoices (order_id) where kind = 'invoice';
create unique index invoices_one_per_refund on invoices (refund_id) where kind = 'credit_note';

-- Double entry (C2): append-only, every posting whole and balanced per currency.
create table ledger_entries (
  id bigint generated always as identity primary key,
  source_event_id text not null,
  account text not null,
  side text not null check (side in ('debit', 'credit')),
  amount bigint not null check (amount > 0),
  currency text not null,
  order_id text,
  source text,
  payment_id text,
  refund_id text,
  posted_at timestamptz not null default now(),
  unique (source_event_id, account, side)
);
create index ledger_entries_by_payment on ledger_entries (source, payment_id);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'integrity_constraint_violation';
end $$;
create trigger ledger_entries_append_only before update or delete on ledger_entries
  for each statement execute function refuse_change();

create function refuse_unbalanced_posting() returns trigger language plpgsql as $$
declare
  lopsided text;
begin
  select source_event_id into lopsided from written
  group by source_event_id, currency
  having sum(case side when 'debit' then amount else -amount end) <> 0
  limit 1;
  if lopsided is not null then
    raise exception 'posting % is not balanced', lopsided using errcode = 'check_violation';
  end if;
  return null;
end $$;
create trigger ledger_entries_balanced after insert on ledger_entries referencing new table as written
  for each statement execute function refuse_unbalanced_posting();

-- Requests under an Idempotency-Key (E2–E4). The body is kept as the text that was sent: jsonb would reorder it.
create table idempotency_keys (
  scope text not null,
  key text not null,
  request_hash bytea not null,
  status text not null check (status in ('in_progress', 'completed')),
  response_code integer,
  response_body text,
  response_headers jsonb,
  -- what the request reserved, so that an interrupted one is completed from it
  reservation text,
  leased_until timestamptz not null,
  created_at timestamptz not null default now(),
  completed_at timestamptz,
  primary key (scope, key),
  check (status <> 'completed' or (response_code is not null and response_body is not null))
);

-- Keys belong to a client, the principal that survives their rotation (E3); only their hash is kept.
create table api_clients (
  name text primary key check (name ~ '^[a-z0-9-]{1,64}$'),
  scopes text[] not null,
  created_at timestamptz not null default now()
);

create table api_keys (
  key_sha256 bytea primary key,
  client text not null references api_clients (name),
  created_at timestamptz not null default now(),
  -- a rotated key goes on for a while, so that both sides can change over
  expires_at timestamptz
);
create index api_keys_by_client on api_keys (client);
