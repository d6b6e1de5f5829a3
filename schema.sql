-- The schema that the migrations make, to be read and compared. Written by `npm run schema`, never by hand.

set check_function_bodies = off;

CREATE OR REPLACE FUNCTION public.alert_of_dead_letter()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.status = 'open' then
    insert into alerts (key, kind, subject)
    values ('dead_letter:' || new.id, new.kind, jsonb_strip_nulls(jsonb_build_object(
      'dead_letter_id', new.id, 'source', new.source, 'order_id', new.order_id, 'payment_id', new.payment_id,
      'refund_id', new.refund_id, 'payout_id', new.payout_id, 'event_id', new.event_id, 'amount', new.amount::text,
      'currency', new.currency)))
    on conflict (key) where closed_at is null do nothing;
  else
    update alerts set closed_at = now(), outcome = new.status, handed_over_at = null
    where key = 'dead_letter:' || new.id and closed_at is null;
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'integrity_constraint_violation';
end $function$;

CREATE OR REPLACE FUNCTION public.refuse_unbalanced_posting()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

create table alert_channels (
  channel text not null,
  leased_until timestamp with time zone,
  paced_until timestamp with time zone,
  attempts integer default 0 not null,
  failing_since timestamp with time zone,
  last_error text,
  constraint alert_channels_pkey PRIMARY KEY (channel),
  constraint alert_channels_channel_check CHECK ((channel = ANY (ARRAY['log'::text, 'slack'::text, 'email'::text])))
);

create table alert_tellings (
  channel text not null,
  alert_id bigint not null,
  told_at timestamp with time zone not null,
  last_told_at timestamp with time zone not null,
  reminders integer default 0 not null,
  over boolean default false not null,
  constraint alert_tellings_pkey PRIMARY KEY (channel, alert_id),
  constraint alert_tellings_channel_check CHECK ((channel = ANY (ARRAY['log'::text, 'slack'::text, 'email'::text])))
);

create table alerts (
  id bigint not null generated always as identity,
  key text not null,
  kind text not null,
  subject jsonb not null,
  raised_at timestamp with time zone default now() not null,
  seen_at timestamp with time zone default now() not null,
  closed_at timestamp with time zone,
  outcome text,
  handed_over_at timestamp with time zone,
  constraint alerts_pkey PRIMARY KEY (id),
  constraint alerts_check CHECK (((closed_at IS NULL) = (outcome IS NULL))),
  constraint alerts_outcome_check CHECK ((outcome = ANY (ARRAY['decided'::text, 'recovered'::text, 'aged'::text])))
);

create table api_clients (
  name text not null,
  scopes text[] not null,
  created_at timestamp with time zone default now() not null,
  constraint api_clients_pkey PRIMARY KEY (name),
  constraint api_clients_name_check CHECK ((name ~ '^[a-z0-9-]{1,64}$'::text))
);

create table api_keys (
  key_sha256 bytea not null,
  client text not null,
  created_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone,
  constraint api_keys_pkey PRIMARY KEY (key_sha256)
);

create table audit_results (
  only_one boolean default true not null,
  at timestamp with time zone not null,
  checked integer not null,
  violations jsonb not null,
  constraint audit_results_pkey PRIMARY KEY (only_one),
  constraint audit_results_only_one_check CHECK (only_one)
);

create table bookings (
  order_id text not null,
  line_id text not null,
  kind text not null,
  reference text,
  status text not null,
  confirmed_at timestamp with time zone default now() not null,
  cancelled_by_refund text,
  cancelled_at timestamp with time zone,
  constraint bookings_pkey PRIMARY KEY (order_id, line_id),
  constraint bookings_kind_check CHECK ((kind = ANY (ARRAY['booking'::text, 'enrolment'::text]))),
  constraint bookings_status_check CHECK ((status = ANY (ARRAY['confirmed'::text, 'cancelled'::text])))
);

create table captures (
  id text not null,
  source text not null,
  payment_id text not null,
  order_id text,
  amount bigint not null,
  currency text not null,
  status text not null,
  reference text not null,
  placed_at timestamp with time zone,
  failure_code text,
  last_error text,
  requested_by text not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint captures_pkey PRIMARY KEY (id),
  constraint captures_reference_key UNIQUE (reference),
  constraint captures_source_payment_id_key UNIQUE (source, payment_id),
  constraint captures_amount_check CHECK ((amount > 0)),
  constraint captures_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text, 'unknown'::text, 'needs_review'::text])))
);

create table charges (
  id text not null,
  source text not null,
  order_id text not null,
  customer_id text not null,
  payment_method text not null,
  amount bigint not null,
  currency text not null,
  status text not null,
  reference text not null,
  payment_id text,
  failure_code text,
  last_error text,
  requested_by text not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint charges_pkey PRIMARY KEY (id),
  constraint charges_reference_key UNIQUE (reference),
  constraint charges_source_payment_id_key UNIQUE (source, payment_id),
  constraint charges_amount_check CHECK ((amount > 0)),
  constraint charges_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text, 'unknown'::text, 'needs_review'::text])))
);

create table checkouts (
  order_id text not null,
  n integer not null,
  source text not null,
  status text not null,
  amount bigint not null,
  currency text not null,
  return_url text,
  payment_id text,
  checkout_url text,
  client_secret text,
  failure_code text,
  last_error text,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint checkouts_pkey PRIMARY KEY (order_id, n),
  constraint checkouts_amount_check CHECK ((amount > 0)),
  constraint checkouts_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text, 'unknown'::text, 'needs_review'::text])))
);

create table cleanings (
  table_name text not null,
  before timestamp with time zone not null,
  constraint cleanings_pkey PRIMARY KEY (table_name)
);

create table consumer_deliveries (
  consumer text not null,
  target text not null,
  event_id text not null,
  n bigint not null generated always as identity,
  event_type text not null,
  order_id text,
  source text,
  payment_id text,
  status text not null,
  leased_until timestamp with time zone,
  attempts integer default 0 not null,
  last_error text,
  last_status integer,
  planned_at timestamp with time zone default now() not null,
  first_attempt_at timestamp with time zone,
  last_attempt_at timestamp with time zone,
  done_at timestamp with time zone,
  constraint consumer_deliveries_pkey PRIMARY KEY (consumer, target, event_id),
  constraint consumer_deliveries_n_key UNIQUE (n),
  constraint consumer_deliveries_status_check CHECK ((status = ANY (ARRAY['in_progress'::text, 'done'::text, 'skipped'::text, 'dead'::text])))
);

create table dead_letters (
  id text not null,
  kind text not null,
  status text default 'open'::text not null,
  source text,
  event_id text,
  order_id text,
  payment_id text,
  refund_id text,
  amount bigint,
  currency text,
  last_error text not null,
  workflow_id text,
  extra_capture boolean default false not null,
  since timestamp with time zone default now() not null,
  closed_at timestamp with time zone,
  decision jsonb,
  payout_id text,
  constraint dead_letters_pkey PRIMARY KEY (id),
  constraint dead_letters_kind_check CHECK ((kind = ANY (ARRAY['refund_failed'::text, 'payout_failed'::text, 'outcome_unknown'::text, 'wrong_currency'::text, 'late_capture'::text, 'order_not_payable'::text, 'unmatched_payment'::text, 'unknown_at_gateway'::text, 'event_unreadable'::text, 'delivery_failed'::text, 'refunds_exceed_captured'::text]))),
  constraint dead_letters_status_check CHECK ((status = ANY (ARRAY['open'::text, 'decided'::text, 'recovered'::text])))
);

create table disputes (
  source text not null,
  dispute_id text not null,
  payment_id text not null,
  order_id text,
  status text not null,
  amount bigint not null,
  currency text not null,
  fee bigint default 0 not null,
  fee_currency text not null,
  revokes boolean default false not null,
  charged_back bigint default 0 not null,
  fee_postings integer default 0 not null,
  corrections integer default 0 not null,
  opened_at timestamp with time zone,
  closed_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  withheld boolean default true not null,
  constraint disputes_pkey PRIMARY KEY (source, dispute_id),
  constraint disputes_amount_check CHECK ((amount > 0)),
  constraint disputes_charged_back_check CHECK ((charged_back >= 0)),
  constraint disputes_check CHECK (((NOT revokes) OR (status = 'lost'::text))),
  constraint disputes_check1 CHECK (((closed_at IS NULL) = (status = 'opened'::text))),
  constraint disputes_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint disputes_fee_check CHECK ((fee >= 0)),
  constraint disputes_fee_currency_check CHECK ((fee_currency ~ '^[A-Z]{3}$'::text)),
  constraint disputes_status_check CHECK ((status = ANY (ARRAY['opened'::text, 'won'::text, 'lost'::text])))
);

create table endpoint_secrets (
  endpoint_id text not null,
  secret text not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  expires_at timestamp with time zone,
  constraint endpoint_secrets_pkey PRIMARY KEY (endpoint_id, secret)
);

create table endpoints (
  id text not null,
  url text not null,
  event_types text[] not null,
  disabled boolean default false not null,
  created_by text not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint endpoints_pkey PRIMARY KEY (id),
  constraint endpoints_event_types_check CHECK ((cardinality(event_types) > 0))
);

create table event_listings (
  source text not null,
  since timestamp with time zone not null,
  settled text,
  place text,
  under_way boolean default false not null,
  in_one_piece boolean default true not null,
  began_at timestamp with time zone,
  pages integer default 0 not null,
  mark text,
  restarts integer default 0 not null,
  restarted_at timestamp with time zone,
  ended_at timestamp with time zone,
  failing_since timestamp with time zone,
  last_error text,
  constraint event_listings_pkey PRIMARY KEY (source),
  constraint event_listings_check CHECK (((failing_since IS NULL) = (last_error IS NULL)))
);

create table gateway_calls (
  reference text not null,
  source text not null,
  attempt integer default 1 not null,
  unanswered_since timestamp with time zone,
  absent_since timestamp with time zone,
  sends integer default 0 not null,
  updated_at timestamp with time zone default now() not null,
  constraint gateway_calls_pkey PRIMARY KEY (reference)
);

create table gift_cards (
  order_id text not null,
  line_id text not null,
  unit integer not null,
  amount bigint not null,
  remaining bigint not null,
  currency text not null,
  status text not null,
  issued_at timestamp with time zone default now() not null,
  stopped_by_refund text,
  constraint gift_cards_pkey PRIMARY KEY (order_id, line_id, unit),
  constraint gift_cards_amount_check CHECK ((amount >= 0)),
  constraint gift_cards_check CHECK (((remaining >= 0) AND (remaining <= amount))),
  constraint gift_cards_status_check CHECK ((status = ANY (ARRAY['active'::text, 'limited'::text, 'disabled'::text])))
);

create table idempotency_keys (
  scope text not null,
  key text not null,
  request_hash bytea not null,
  status text not null,
  response_code integer,
  response_body text,
  response_headers jsonb,
  reservation text,
  leased_until timestamp with time zone not null,
  created_at timestamp with time zone default now() not null,
  completed_at timestamp with time zone,
  constraint idempotency_keys_pkey PRIMARY KEY (scope, key),
  constraint idempotency_keys_check CHECK (((status <> 'completed'::text) OR ((response_code IS NOT NULL) AND (response_body IS NOT NULL)))),
  constraint idempotency_keys_status_check CHECK ((status = ANY (ARRAY['in_progress'::text, 'completed'::text])))
);

create table invoices (
  number bigint not null generated always as identity (start with 1001),
  order_id text not null,
  kind text not null,
  amount bigint not null,
  currency text not null,
  refund_id text,
  issued_at timestamp with time zone default now() not null,
  constraint invoices_pkey PRIMARY KEY (number),
  constraint invoices_check CHECK (((kind = 'credit_note'::text) = (refund_id IS NOT NULL))),
  constraint invoices_kind_check CHECK ((kind = ANY (ARRAY['invoice'::text, 'credit_note'::text])))
);

create table ledger_entries (
  id bigint not null generated always as identity,
  source_event_id text not null,
  account text not null,
  side text not null,
  amount bigint not null,
  currency text not null,
  order_id text,
  source text,
  payment_id text,
  refund_id text,
  posted_at timestamp with time zone default now() not null,
  constraint ledger_entries_pkey PRIMARY KEY (id),
  constraint ledger_entries_source_event_id_account_side_key UNIQUE (source_event_id, account, side),
  constraint ledger_entries_amount_check CHECK ((amount > 0)),
  constraint ledger_entries_side_check CHECK ((side = ANY (ARRAY['debit'::text, 'credit'::text])))
);

create table loyalty_entries (
  id bigint not null generated always as identity,
  order_id text not null,
  customer_id text not null,
  source text not null,
  payment_id text not null,
  refund_id text,
  refund_change text,
  points bigint not null,
  created_at timestamp with time zone default now() not null,
  constraint loyalty_entries_pkey PRIMARY KEY (id),
  constraint loyalty_entries_source_payment_id_refund_id_refund_change_key UNIQUE NULLS NOT DISTINCT (source, payment_id, refund_id, refund_change),
  constraint loyalty_entries_refund_change_check CHECK ((refund_change = ANY (ARRAY['succeeded'::text, 'returned'::text])))
);

create table order_lines (
  order_id text not null,
  id text not null,
  "position" integer not null,
  kind text not null,
  amount bigint not null,
  quantity integer default 1 not null,
  reference text,
  constraint order_lines_pkey PRIMARY KEY (order_id, id),
  constraint order_lines_check CHECK (((amount >= 0) OR (kind = 'discount'::text))),
  constraint order_lines_kind_check CHECK ((kind = ANY (ARRAY['booking'::text, 'enrolment'::text, 'gift_card'::text, 'package'::text, 'product'::text, 'shipping'::text, 'tax'::text, 'discount'::text]))),
  constraint order_lines_quantity_check CHECK ((quantity >= 1))
);

create table order_payments (
  source text not null,
  payment_id text not null,
  order_id text not null,
  amount bigint not null,
  counted_at timestamp with time zone default now() not null,
  counted_by text not null,
  outcome text not null,
  constraint order_payments_pkey PRIMARY KEY (source, payment_id),
  constraint order_payments_amount_check CHECK ((amount > 0)),
  constraint order_payments_outcome_check CHECK ((outcome = ANY (ARRAY['marked_paid'::text, 'partially_paid'::text])))
);

create table orders (
  id text not null,
  status text not null,
  currency text not null,
  amount_due bigint not null,
  amount_paid bigint default 0 not null,
  amount_refunded bigint default 0 not null,
  customer_id text not null,
  customer_email text,
  customer_name text,
  paid_source text,
  paid_payment_id text,
  paid_at timestamp with time zone,
  disputed boolean default false not null,
  expires_at timestamp with time zone,
  checkout_count integer default 0 not null,
  aggregate_version bigint default 0 not null,
  created_by text not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  imported_at timestamp with time zone,
  imported_refunded bigint default 0 not null,
  amount_charged_back bigint default 0 not null,
  loyalty_rate bigint,
  constraint orders_pkey PRIMARY KEY (id),
  constraint orders_amount_charged_back_check CHECK ((amount_charged_back >= 0)),
  constraint orders_amount_due_check CHECK ((amount_due >= 1)),
  constraint orders_amount_paid_check CHECK ((amount_paid >= 0)),
  constraint orders_amount_refunded_check CHECK ((amount_refunded >= 0)),
  constraint orders_check CHECK (((status <> 'paid'::text) OR ((amount_paid >= amount_due) AND (paid_at IS NOT NULL) AND (paid_source IS NOT NULL) AND (paid_payment_id IS NOT NULL)))),
  constraint orders_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint orders_id_check CHECK (((length(id) >= 1) AND (length(id) <= 200))),
  constraint orders_imported_refunded_check CHECK ((imported_refunded >= 0)),
  constraint orders_loyalty_rate_check CHECK ((loyalty_rate >= 0)),
  constraint orders_status_check CHECK ((status = ANY (ARRAY['pending_payment'::text, 'payment_pending'::text, 'partially_paid'::text, 'paid'::text, 'failed_final'::text, 'cancelled'::text, 'expired'::text])))
);

create table outbox (
  id bigint not null generated always as identity,
  event_type text not null,
  aggregate_id text not null,
  aggregate_version bigint not null,
  payload jsonb not null,
  created_at timestamp with time zone default now() not null,
  published_at timestamp with time zone,
  attempts integer default 0 not null,
  claimed_until timestamp with time zone,
  last_error text,
  constraint outbox_pkey PRIMARY KEY (id)
);

create table packages (
  order_id text not null,
  line_id text not null,
  unit integer not null,
  reference text,
  status text not null,
  issued_at timestamp with time zone default now() not null,
  stopped_by_refund text,
  constraint packages_pkey PRIMARY KEY (order_id, line_id, unit),
  constraint packages_status_check CHECK ((status = ANY (ARRAY['active'::text, 'disabled'::text])))
);

create table payments (
  source text not null,
  payment_id text not null,
  order_id text,
  status text not null,
  amount bigint,
  currency text,
  reference text,
  amount_refunded bigint default 0 not null,
  outcome text,
  waiting_for text,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  purpose text default 'order'::text not null,
  constraint payments_pkey PRIMARY KEY (source, payment_id),
  constraint payments_amount_check CHECK ((amount >= 0)),
  constraint payments_amount_refunded_check CHECK ((amount_refunded >= 0)),
  constraint payments_purpose_check CHECK ((purpose = ANY (ARRAY['order'::text, 'top_up'::text]))),
  constraint payments_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'authorized'::text, 'captured'::text, 'failed'::text, 'expired'::text]))),
  constraint payments_waiting_for_check CHECK ((waiting_for = ANY (ARRAY['order'::text, 'gateway'::text])))
);

create table payouts (
  id text not null,
  mode text not null,
  source text not null,
  seller_id text not null,
  settlement_date date not null,
  amount bigint not null,
  currency text not null,
  destination text not null,
  status text not null,
  reference text not null,
  gateway_payout_id text,
  failure_code text,
  last_error text,
  requested_by text not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  superseded_gateway_ids text[] default '{}'::text[] not null,
  constraint payouts_pkey PRIMARY KEY (id),
  constraint payouts_mode_seller_id_settlement_date_key UNIQUE (mode, seller_id, settlement_date),
  constraint payouts_reference_key UNIQUE (reference),
  constraint payouts_source_gateway_payout_id_key UNIQUE (source, gateway_payout_id),
  constraint payouts_amount_check CHECK ((amount > 0)),
  constraint payouts_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint payouts_mode_check CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
  constraint payouts_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text, 'unknown'::text, 'needs_review'::text])))
);

create table processed_events (
  consumer text not null,
  event_id text not null,
  outcome text not null,
  processed_at timestamp with time zone default now() not null,
  constraint processed_events_pkey PRIMARY KEY (consumer, event_id)
);

create table refunds (
  id text not null,
  source text not null,
  payment_id text not null,
  order_id text,
  kind text not null,
  status text not null,
  amount bigint not null,
  currency text not null,
  reason text,
  reference text,
  gateway_refund_id text,
  failure_code text,
  last_error text,
  requested_by text,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  superseded_gateway_ids text[] default '{}'::text[] not null,
  constraint refunds_pkey PRIMARY KEY (id),
  constraint refunds_reference_key UNIQUE (reference),
  constraint refunds_source_gateway_refund_id_key UNIQUE (source, gateway_refund_id),
  constraint refunds_amount_check CHECK ((amount > 0)),
  constraint refunds_kind_check CHECK ((kind = ANY (ARRAY['requested'::text, 'extra_capture'::text, 'late_capture'::text, 'gateway'::text]))),
  constraint refunds_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text, 'unknown'::text, 'needs_review'::text])))
);

create table state_transitions (
  id bigint not null generated always as identity,
  machine text not null,
  object_id text not null,
  from_status text,
  to_status text not null,
  cause text not null,
  detail text,
  order_id text,
  source text,
  payment_id text,
  at timestamp with time zone default clock_timestamp() not null,
  constraint state_transitions_pkey PRIMARY KEY (id),
  constraint state_transitions_machine_check CHECK ((machine = ANY (ARRAY['capture'::text, 'void'::text, 'order'::text, 'payment'::text, 'refund'::text, 'checkout'::text, 'dispute'::text, 'dead_letter'::text, 'payout'::text, 'charge'::text, 'top_up'::text])))
);

create table top_ups (
  id text not null,
  source text not null,
  wallet_id text not null,
  customer_id text not null,
  payment_method text not null,
  amount bigint not null,
  currency text not null,
  status text not null,
  reference text not null,
  payment_id text,
  failure_code text,
  last_error text,
  requested_by text not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint top_ups_pkey PRIMARY KEY (id),
  constraint top_ups_reference_key UNIQUE (reference),
  constraint top_ups_source_payment_id_key UNIQUE (source, payment_id),
  constraint top_ups_amount_check CHECK ((amount > 0)),
  constraint top_ups_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text, 'unknown'::text, 'needs_review'::text])))
);

create table voids (
  id text not null,
  source text not null,
  payment_id text not null,
  order_id text,
  amount bigint not null,
  currency text not null,
  status text not null,
  reference text not null,
  placed_at timestamp with time zone,
  failure_code text,
  last_error text,
  requested_by text not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint voids_pkey PRIMARY KEY (id),
  constraint voids_reference_key UNIQUE (reference),
  constraint voids_source_payment_id_key UNIQUE (source, payment_id),
  constraint voids_amount_check CHECK ((amount > 0)),
  constraint voids_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text, 'unknown'::text, 'needs_review'::text])))
);

create table wallet_entries (
  id bigint not null generated always as identity,
  wallet_id text not null,
  source_event_id text not null,
  amount bigint not null,
  currency text not null,
  source text,
  payment_id text,
  refund_id text,
  at timestamp with time zone default now() not null,
  constraint wallet_entries_pkey PRIMARY KEY (id),
  constraint wallet_entries_source_event_id_key UNIQUE (source_event_id),
  constraint wallet_entries_amount_check CHECK ((amount <> 0))
);

create table wallets (
  id text not null,
  customer_id text not null,
  currency text not null,
  balance bigint default 0 not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint wallets_pkey PRIMARY KEY (id),
  constraint wallets_balance_check CHECK ((balance >= 0)),
  constraint wallets_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint wallets_id_check CHECK (((length(id) >= 1) AND (length(id) <= 200)))
);

create table webhook_deliveries (
  source text not null,
  event_id text not null,
  received_at timestamp with time zone default now() not null,
  body bytea not null,
  headers jsonb not null,
  remote_address text,
  differs boolean default false not null,
  found boolean default false not null
) partition by RANGE (received_at);

create table webhook_events (
  source text not null,
  event_id text not null,
  event_type text not null,
  payload jsonb,
  subject text,
  object_id text,
  payment_id text,
  order_id text,
  claimed text,
  reference text,
  occurred_at timestamp with time zone,
  body_sha256 bytea not null,
  state text not null,
  outcome text,
  received_at timestamp with time zone default now() not null,
  handed_over_at timestamp with time zone,
  processed_at timestamp with time zone,
  attempts integer default 0 not null,
  last_error text,
  next_look_at timestamp with time zone,
  look_again_at timestamp with time zone,
  claimed_until timestamp with time zone,
  amount bigint,
  currency text,
  fee bigint,
  found_at timestamp with time zone,
  constraint webhook_events_pkey PRIMARY KEY (source, event_id),
  constraint webhook_events_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'processed'::text, 'ignored'::text, 'held'::text]))),
  constraint webhook_events_subject_check CHECK ((subject = ANY (ARRAY['payment'::text, 'refund'::text, 'dispute'::text, 'payout'::text])))
);

create table webhook_refusals (
  source text not null,
  reason text not null,
  hour timestamp with time zone not null,
  count bigint not null,
  last_at timestamp with time zone not null,
  last_remote_address text,
  constraint webhook_refusals_pkey PRIMARY KEY (source, reason, hour)
);

create table webhook_deliveries_default partition of webhook_deliveries DEFAULT;

CREATE INDEX alert_tellings_not_over ON public.alert_tellings USING btree (channel) WHERE (NOT over);
CREATE INDEX alerts_not_handed_over ON public.alerts USING btree (id) WHERE (handed_over_at IS NULL);
CREATE UNIQUE INDEX alerts_one_open ON public.alerts USING btree (key) WHERE (closed_at IS NULL);
CREATE INDEX api_keys_by_client ON public.api_keys USING btree (client);
CREATE INDEX charges_by_order ON public.charges USING btree (order_id);
CREATE INDEX charges_open ON public.charges USING btree (source, id) WHERE (status = ANY (ARRAY['pending'::text, 'unknown'::text, 'needs_review'::text]));
CREATE INDEX checkouts_open ON public.checkouts USING btree (source, order_id, n) WHERE (status = ANY (ARRAY['pending'::text, 'unknown'::text]));
CREATE INDEX consumer_deliveries_by_event ON public.consumer_deliveries USING btree (event_id);
CREATE INDEX consumer_deliveries_by_payment ON public.consumer_deliveries USING btree (source, payment_id);
CREATE INDEX consumer_deliveries_by_target ON public.consumer_deliveries USING btree (consumer, target, n);
CREATE INDEX consumer_deliveries_open ON public.consumer_deliveries USING btree (planned_at) WHERE (status = 'in_progress'::text);
CREATE INDEX dead_letters_by_payment ON public.dead_letters USING btree (source, payment_id);
CREATE INDEX dead_letters_open ON public.dead_letters USING btree (extra_capture DESC, since) WHERE (status = 'open'::text);
CREATE INDEX disputes_by_order ON public.disputes USING btree (order_id) WHERE (order_id IS NOT NULL);
CREATE INDEX disputes_by_payment ON public.disputes USING btree (source, payment_id);
CREATE INDEX idempotency_keys_completed ON public.idempotency_keys USING btree (completed_at) WHERE (status = 'completed'::text);
CREATE INDEX idempotency_keys_in_progress ON public.idempotency_keys USING btree (leased_until) WHERE (status = 'in_progress'::text);
CREATE UNIQUE INDEX invoices_one_per_order ON public.invoices USING btree (order_id) WHERE (kind = 'invoice'::text);
CREATE UNIQUE INDEX invoices_one_per_refund ON public.invoices USING btree (refund_id) WHERE (kind = 'credit_note'::text);
CREATE INDEX ledger_entries_by_payment ON public.ledger_entries USING btree (source, payment_id);
CREATE INDEX loyalty_entries_by_order ON public.loyalty_entries USING btree (order_id);
CREATE UNIQUE INDEX loyalty_entries_one_earning ON public.loyalty_entries USING btree (order_id) WHERE (refund_id IS NULL);
CREATE INDEX order_payments_by_order ON public.order_payments USING btree (order_id);
CREATE INDEX orders_expiring ON public.orders USING btree (expires_at) WHERE (status = ANY (ARRAY['pending_payment'::text, 'payment_pending'::text, 'partially_paid'::text, 'failed_final'::text]));
CREATE INDEX outbox_by_aggregate ON public.outbox USING btree (aggregate_id);
CREATE INDEX outbox_published ON public.outbox USING btree (published_at) WHERE (published_at IS NOT NULL);
CREATE INDEX outbox_unpublished ON public.outbox USING btree (id) WHERE (published_at IS NULL);
CREATE INDEX payments_by_order ON public.payments USING btree (order_id);
CREATE INDEX payments_waiting ON public.payments USING btree (source, payment_id) WHERE (waiting_for IS NOT NULL);
CREATE INDEX payouts_open ON public.payouts USING btree (source, id) WHERE (status = ANY (ARRAY['pending'::text, 'unknown'::text, 'needs_review'::text]));
CREATE INDEX refunds_by_order ON public.refunds USING btree (order_id);
CREATE INDEX refunds_by_payment ON public.refunds USING btree (source, payment_id);
CREATE UNIQUE INDEX refunds_one_automatic ON public.refunds USING btree (source, payment_id) WHERE (kind = ANY (ARRAY['extra_capture'::text, 'late_capture'::text]));
CREATE INDEX refunds_open ON public.refunds USING btree (source, id) WHERE (status = ANY (ARRAY['pending'::text, 'unknown'::text, 'needs_review'::text]));
CREATE INDEX state_transitions_by_object ON public.state_transitions USING btree (machine, object_id);
CREATE INDEX state_transitions_by_payment ON public.state_transitions USING btree (source, payment_id);
CREATE INDEX top_ups_by_wallet ON public.top_ups USING btree (wallet_id);
CREATE INDEX top_ups_open ON public.top_ups USING btree (source, id) WHERE (status = ANY (ARRAY['pending'::text, 'unknown'::text, 'needs_review'::text]));
CREATE INDEX wallet_entries_by_wallet ON public.wallet_entries USING btree (wallet_id);
CREATE INDEX webhook_deliveries_by_event ON public.webhook_deliveries USING btree (source, event_id, received_at);
CREATE INDEX webhook_events_by_order ON public.webhook_events USING btree (order_id);
CREATE INDEX webhook_events_by_payment ON public.webhook_events USING btree (source, payment_id);
CREATE INDEX webhook_events_by_time ON public.webhook_events USING btree (received_at);
CREATE INDEX webhook_events_open ON public.webhook_events USING btree (received_at) WHERE ((state = 'pending'::text) OR (look_again_at IS NOT NULL));

alter table alert_tellings add constraint alert_tellings_alert_id_fkey FOREIGN KEY (alert_id) REFERENCES alerts(id);
alter table api_keys add constraint api_keys_client_fkey FOREIGN KEY (client) REFERENCES api_clients(name);
alter table bookings add constraint bookings_order_id_line_id_fkey FOREIGN KEY (order_id, line_id) REFERENCES order_lines(order_id, id);
alter table charges add constraint charges_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id);
alter table checkouts add constraint checkouts_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id);
alter table endpoint_secrets add constraint endpoint_secrets_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES endpoints(id);
alter table gift_cards add constraint gift_cards_order_id_line_id_fkey FOREIGN KEY (order_id, line_id) REFERENCES order_lines(order_id, id);
alter table invoices add constraint invoices_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id);
alter table loyalty_entries add constraint loyalty_entries_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id);
alter table order_lines add constraint order_lines_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id);
alter table order_payments add constraint order_payments_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id);
alter table packages add constraint packages_order_id_line_id_fkey FOREIGN KEY (order_id, line_id) REFERENCES order_lines(order_id, id);
alter table top_ups add constraint top_ups_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallets(id);
alter table wallet_entries add constraint wallet_entries_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallets(id);

CREATE TRIGGER dead_letters_alert_changed AFTER UPDATE OF status ON public.dead_letters FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION alert_of_dead_letter();
CREATE TRIGGER dead_letters_alert_opened AFTER INSERT ON public.dead_letters FOR EACH ROW EXECUTE FUNCTION alert_of_dead_letter();
CREATE TRIGGER ledger_entries_append_only BEFORE DELETE OR UPDATE ON public.ledger_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_entries_balanced AFTER INSERT ON public.ledger_entries REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION refuse_unbalanced_posting();
