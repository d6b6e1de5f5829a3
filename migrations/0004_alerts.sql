-- Up Migration

-- What people are told of by themselves (F5): that something waits for a person, and that it came right.

-- One row per trouble; trouble that comes again after it was over is a row of its own.
create table alerts (
  id bigint generated always as identity primary key,
  -- dead_letter:{id}, credentials:{source}
  key text not null,
  kind text not null,
  -- ids and amounts, never personal data
  subject jsonb not null,
  raised_at timestamptz not null default now(),
  -- when it was met last
  seen_at timestamptz not null default now(),
  closed_at timestamptz,
  -- by a person, by itself, or not seen again for long
  outcome text check (outcome in ('decided', 'recovered', 'aged')),
  -- since it was raised or closed, the workflows that tell people have been woken
  handed_over_at timestamptz,
  check ((closed_at is null) = (outcome is null))
);
create unique index alerts_one_open on alerts (key) where closed_at is null;
create index alerts_not_handed_over on alerts (id) where handed_over_at is null;

-- What was said on a channel about an alert; written after it was said.
create table alert_tellings (
  channel text not null check (channel in ('log', 'slack', 'email')),
  alert_id bigint not null references alerts (id),
  told_at timestamptz not null,
  -- told, reminded of, or said to have come right
  last_told_at timestamptz not null,
  reminders integer not null default 0,
  -- nothing more will be said
  over boolean not null default false,
  primary key (channel, alert_id)
);
create index alert_tellings_not_over on alert_tellings (channel) where not over;

create table alert_channels (
  channel text primary key check (channel in ('log', 'slack', 'email')),
  -- a sender is at work until then
  leased_until timestamptz,
  -- what was sent uses up time until here: how many messages may follow at once
  paced_until timestamptz,
  -- since the last message that went out
  attempts integer not null default 0,
  failing_since timestamptz,
  last_error text
);

-- An alert follows its dead letter in the very statement that opens or closes it, whichever of a dozen that is.
create function alert_of_dead_letter() returns trigger language plpgsql as $$
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
end $$;
create trigger dead_letters_alert_opened after insert on dead_letters
  for each row execute function alert_of_dead_letter();
create trigger dead_letters_alert_changed after update of status on dead_letters
  for each row when (old.status is distinct from new.status) execute function alert_of_dead_letter();

-- What is open already is told, too.
insert into alerts (key, kind, subject, raised_at)
select 'dead_letter:' || id, kind, jsonb_strip_nulls(jsonb_build_object(
  'dead_letter_id', id, 'source', source, 'order_id', order_id, 'payment_id', payment_id, 'refund_id', refund_id,
  'payout_id', payout_id, 'event_id', event_id, 'amount', amount::text, 'currency', currency)), since
from dead_letters where status = 'open';
