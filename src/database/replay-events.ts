import { eventConditions, MICROSECONDS, type EventFilter, type EventPosition } from './event-filter.ts';
import type { Db } from './pool.ts';

export interface ReplayedBatch {
  /** How many of them. */
  readonly count: number;
  /** Those that were never understood: they name no payment to look at, and are to be read anew. */
  readonly unread: readonly { readonly source: string; readonly eventId: string }[];
  /** Where the next batch begins; null after the last. */
  readonly next: EventPosition | null;
}

/** What was ignored was put aside for good: it is looked at again only where somebody asks for it by its state. */
function meant(values: unknown[], filter: EventFilter, after: EventPosition | null): string {
  const asked = filter.state === null ? [`e.state <> 'ignored'`] : [];
  return [...eventConditions(values, filter, after, '>'), ...asked, 'true'].join(' and ');
}

/** How many events a replay would look at again, and the database's time: what comes later is not among them. */
export async function countReplay(db: Db, filter: EventFilter): Promise<{ count: number; at: Date }> {
  const values: unknown[] = [];
  const { rows } = await db.query<{ count: number; at: Date }>(
    `select count(*)::int as count, now() as at from webhook_events e where ${meant(values, filter, null)}`,
    values,
  );
  const [counted] = rows;
  if (counted === undefined) throw new Error('A count always has a row.');
  return counted;
}

/**
 * Asks for events to be looked at again, oldest first, as `replayEvent` does for one: they are as if just received, and the
 * relay takes them. Harmless however often, and where it was interrupted (H2, C1).
 */
export async function replayEvents(
  db: Db,
  filter: EventFilter,
  batch: { readonly limit: number; readonly after: EventPosition | null },
): Promise<ReplayedBatch> {
  const values: unknown[] = [];
  const { rows } = await db.query<{ source: string; event_id: string; unread: boolean; micros: bigint }>(
    `with batch as (
       select e.source, e.event_id, e.payment_id is null and e.state = 'held' as unread, ${MICROSECONDS} as micros
       from webhook_events e where ${meant(values, filter, batch.after)}
       order by e.received_at, e.source, e.event_id limit $${values.push(batch.limit)}
     ), locked as (
       -- in the order in which everybody takes the rows of several events
       select e.source, e.event_id from webhook_events e join batch using (source, event_id)
       order by e.source, e.event_id for no key update of e
     ), again as (
       update webhook_events e
       set look_again_at = case when e.payment_id is null then e.look_again_at else date_trunc('milliseconds', clock_timestamp()) end,
           handed_over_at = case when e.payment_id is null then e.handed_over_at end,
           next_look_at = null
       from locked l where e.source = l.source and e.event_id = l.event_id
     )
     select source, event_id, unread, micros from batch order by micros, source, event_id`,
    values,
  );
  const last = rows.at(-1);
  return {
    count: rows.length,
    unread: rows.filter(({ unread }) => unread).map((row) => ({ source: row.source, eventId: row.event_id })),
    next:
      rows.length === batch.limit && last !== undefined
        ? { receivedAt: String(last.micros), source: last.source, eventId: last.event_id }
        : null,
  };
}
