import { ONLY_TARGET } from '../domain/keys.ts';
import type { Db } from './pool.ts';

/**
 * Removes rows of the outbox that were published longer ago than `keepMs`, oldest first, and notes up to which moment in
 * `cleanings`: the audit expects none from before. What is not published is never removed, nor what the next version of an order
 * that does not exist yet follows from, nor what somebody has still to be told of, or can ask to be told of after all.
 *
 * @returns how many, at most `limit`: each batch is a short transaction
 */
export async function removePublished(db: Db, keepMs: number, limit: number): Promise<number> {
  const { rows } = await db.query<{ removed: number }>(
    `with old as (
       select o.id from outbox o
       where o.published_at < clock_timestamp() - $1::interval
         and (o.payload->>'order_id' is distinct from o.aggregate_id or exists (select from orders r where r.id = o.aggregate_id))
         and not exists (
           select from consumer_deliveries d where d.event_id = 'outbox:' || o.id
             and (d.status in ('in_progress', 'dead') or d.status = 'skipped' and d.target <> '${ONLY_TARGET}'))
       order by o.published_at limit $2
       for update skip locked
     ), removed as (
       delete from outbox o using old where o.id = old.id returning o.created_at
     ), noted as (
       insert into cleanings (table_name, before)
       select 'outbox', max(created_at) + interval '1 microsecond' from removed having count(*) > 0
       on conflict (table_name) do update set before = greatest(cleanings.before, excluded.before)
     )
     select count(*)::int as removed from removed`,
    [`${keepMs} milliseconds`, limit],
  );
  return rows[0]?.removed ?? 0;
}
