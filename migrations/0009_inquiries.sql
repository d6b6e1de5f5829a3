-- Up Migration

-- An inquiry of the bank's flags the order, and the gateway keeps nothing back. Those that are known already stand as withheld
-- until their payment is looked at again.
alter table disputes add column withheld boolean not null default true;
