-- What operations need: rows whose run is gone are found by what is not final, which is little beside all that is over.
create index payments_waiting on payments (source, payment_id) where waiting_for is not null;
create index refunds_open on refunds (source, id) where status in ('pending', 'unknown', 'needs_review');
create index payouts_open on payouts (source, id) where status in ('pending', 'unknown', 'needs_review');
create index charges_open on charges (source, id) where status in ('pending', 'unknown', 'needs_review');
create index top_ups_open on top_ups (source, id) where status in ('pending', 'unknown', 'needs_review');
create index checkouts_open on checkouts (source, order_id, n) where status in ('pending', 'unknown');
create index orders_expiring on orders (expires_at)
  where status in ('pending_payment', 'payment_pending', 'partially_paid', 'failed_final');

-- Orders that were paid before this system ran. `imported_refunded`: what of them had gone back by then, in minor units.
alter table orders add column imported_at timestamptz;
alter table orders add column imported_refunded bigint not null default 0 check (imported_refunded >= 0);

-- Published rows of the outbox are removed after a time; up to which moment is written here, for the audit.
create table cleanings (
  table_name text primary key,
  before timestamptz not null
);
create index outbox_published on outbox (published_at) where published_at is not null;
