import type { Pool } from '../../../src/database/pool.ts';
import { tagOf, unmark } from './truth.ts';

/** By table: its rows as JSON text, sorted, without what one order of delivery may have other than the next. */
export type End = Readonly<Record<string, readonly string[]>>;

/**
 * The way there, and who came first: when, how often, by which event. What is left is where it ended. A time is no place, and
 * of two refunds that together stop a booking either can be the second.
 */
const ON_THE_WAY =
  /_at$|^(counted_by|last_error|attempts|aggregate_version|body_sha256|payload|event_type|cancelled_by_refund|stopped_by_refund|claimed_until|checkout_count|number|superseded_gateway_ids|corrections|fee_postings)$/;

/** Read whole where they exist. Tables that come with later versions of the schema are read as soon as they are there. */
const TABLES: Readonly<Record<string, string>> = {
  orders: 'select * from orders',
  payments: 'select * from payments',
  order_payments: 'select * from order_payments',
  refunds: 'select * from refunds',
  bookings: 'select * from bookings',
  gift_cards: 'select * from gift_cards',
  packages: 'select * from packages',
  wallets: 'select * from wallets',
  top_ups: 'select * from top_ups',
  disputes: 'select * from disputes',
  events: `select source, event_id, payment_id, state from webhook_events where event_id not like 'evt_of_%'`,
  dead_letters: `select kind, source, order_id, payment_id, refund_id, amount, currency, choices from (
    select d.*, null as choices from dead_letters d where status = 'open') d`,
  points: 'select order_id, sum(points)::bigint as points from loyalty_entries group by 1 having sum(points) <> 0',
  earnings: 'select order_id, count(*) as n from loyalty_entries where refund_id is null group by 1',
  // A credit note's number is never withdrawn, also where the bank sent its refund back: whether there is such a one tells the way.
  invoices: `
    select order_id, kind, sum(amount)::bigint as amount from invoices i
    where not exists (select from refunds r where r.id = i.refund_id and r.status = 'failed') group by 1, 2`,
  books: `
    select account, substring(coalesce(order_id, payment_id) from '~[a-z0-9]+') as tag, currency,
           sum(case side when 'debit' then amount else -amount end)::bigint as balance
    from ledger_entries group by 1, 2, 3 having sum(case side when 'debit' then amount else -amount end) <> 0`,
  wallet_money: 'select wallet_id, payment_id, sum(amount)::bigint as amount from wallet_entries group by 1, 2',
  announced: `
    select event_type, aggregate_id, payload->>'line_id' as line_id, payload->>'payment_id' as payment_id, count(*) as n
    from outbox where event_type in ('order.paid', 'fulfilment.requested', 'payment.extra_captured') group by 1, 2, 3, 4`,
};

/** Where every order of delivery in this database has ended, by its mark. */
export async function readEnds(pool: Pool): Promise<Map<string, End>> {
  const ends = new Map<string, Record<string, string[]>>();
  const there = await pool.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
  );
  const known = new Set(there.rows.map(({ name }) => name));
  for (const [table, sql] of Object.entries(TABLES)) {
    if (table === 'disputes' && !known.has(table)) continue;
    const { rows } = await pool.query<{ row: Record<string, unknown> }>(`select to_jsonb(t) as row from (${sql}) t`);
    for (const { row } of rows) {
      const kept = Object.entries(row).filter(
        ([column, value]) => value !== null && (table === 'announced' || !ON_THE_WAY.test(column)),
      );
      const text = JSON.stringify(Object.fromEntries(kept));
      const tag = tagOf(text);
      if (tag === null) throw new Error(`No order of delivery has this row of ${table}: ${text}`);
      const end = ends.get(tag) ?? {};
      (end[table] ??= []).push(unmark(text));
      ends.set(tag, end);
    }
  }
  for (const end of ends.values()) for (const rows of Object.values(end)) rows.sort();
  return ends;
}
