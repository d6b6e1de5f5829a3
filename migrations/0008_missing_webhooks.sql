-- Up Migration

-- Webhooks that never came (H2): what the gateway says that it sent, or that happened there, is listed, and what is not
-- known is taken in by the same rules as a webhook.

-- When the event was found at the gateway; null for one that was delivered.
alter table webhook_events add column found_at timestamptz;
-- The bytes of a found event, which are no delivery.
alter table webhook_deliveries add column found boolean not null default false;

-- How far each source's list has been read. A cursor is the adapter's own text; null is the beginning.
create table event_listings (
  source text primary key,
  -- what happened before then is older than this installation, and left alone
  since timestamptz not null,
  -- where the next pass begins: nothing is expected to appear before it any more
  settled text,
  -- how far the pass has come that is under way
  place text,
  under_way boolean not null default false,
  -- whether all that the pass has listed so far follows on `settled` in one piece, so that it may be settled further
  in_one_piece boolean not null default true,
  -- since when the pass is under way, restarts included
  began_at timestamptz,
  -- how many pages the pass has turned, and a place that it came by: one that comes again is a circle
  pages integer not null default 0,
  mark text,
  -- how often the pass had to be begun anew, and when last
  restarts integer not null default 0,
  restarted_at timestamptz,
  -- when a pass last reached the end
  ended_at timestamptz,
  -- since when the gateway gives no list, and why
  failing_since timestamptz,
  last_error text,
  check ((failing_since is null) = (last_error is null))
);

-- What the scheduled audit found last; one row.
create table audit_results (
  only_one boolean primary key default true check (only_one),
  at timestamptz not null,
  checked integer not null,
  -- [{invariant, requirement, count}]
  violations jsonb not null
);
