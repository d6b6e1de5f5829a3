import type { Db } from './pool.ts';

/** How far a source's list of events has been read; a cursor is the adapter's own text, and null the beginning. */
export interface EventListing {
  /** What happened before then is older than this installation. */
  readonly since: Date;
  /** Where the next pass begins. */
  readonly settled: string | null;
  /** How far the pass has come that is under way. */
  readonly place: string | null;
  readonly underWay: boolean;
  /** All that the pass has listed follows on `settled` without a gap that may still fill. */
  readonly inOnePiece: boolean;
  /** Since when the pass is under way; null where none is. */
  readonly beganAt: Date | null;
  /** How many pages it has turned. */
  readonly pages: number;
  /** A place that it came by: where it comes there again, the list is a circle. */
  readonly mark: string | null;
  /** How often it was begun anew: what fails then is over only at its end. */
  readonly restarts: number;
  /** The gateway gave no list the last time. */
  readonly failing: boolean;
}

/**
 * As far back as a first listing goes at most: what gateways themselves keep. A month of events is also what the search for the first one
 * goes through at most, and a source without any has no such search.
 */
const FIRST = `
  select received_at from webhook_events
  where source = $1 and received_at > now() - interval '30 days' and exists (select from webhook_events where source = $1)
  order by received_at limit 1`;

/**
 * Where a source's listing stands. The first time it begins with what may be this installation's: with the first event that it has of
 * the source, or now, less the time by which an event may come before its order.
 */
export async function readEventListing(db: Db, source: string, orderWaitMs: number): Promise<EventListing> {
  const read = () =>
    db.query<EventListing>(
      `select since, settled, place, under_way as "underWay", in_one_piece as "inOnePiece", began_at as "beganAt",
              pages, mark, restarts, failing_since is not null as failing
       from event_listings where source = $1`,
      [source],
    );
  let { rows } = await read();
  if (rows.length === 0) {
    await db.query(
      `insert into event_listings (source, since)
       select $1, least(now(), (${FIRST})) - make_interval(secs => $2::float8 / 1000)
       on conflict do nothing`,
      [source, orderWaitMs],
    );
    ({ rows } = await read());
  }
  const [row] = rows;
  if (row === undefined) throw new Error(`There is no listing of ${source}.`);
  return row;
}

/** What a page moved: to be saved only once all that it covers is durable. */
export interface ListedPage {
  /** Null: the pass is at its end. */
  readonly next: string | null;
  /** Null: that shows further on. */
  readonly settled: boolean | null;
}

/**
 * Moves a listing past the page that began at `from`; does nothing where somebody else has moved it meanwhile. The next pass begins
 * where the settled part of the list ends, which is what comes in one piece from where the last one began. The mark is set at every
 * page whose number is a power of two: a circle of any length comes by one in the end (R. P. Brent's way to find it).
 */
export async function moveEventListing(db: Db, source: string, from: EventListing, page: ListedPage): Promise<void> {
  const ends = page.next === null;
  const inOnePiece = ends || (from.inOnePiece && page.settled !== false);
  const settled = page.settled && page.next !== null && inOnePiece ? page.next : from.settled;
  const pages = ends ? 0 : from.pages + 1;
  const mark = Number.isInteger(Math.log2(pages)) ? page.next : from.mark;
  await db.query(
    `update event_listings
     set settled = $5, place = $6, under_way = $6::text is not null, in_one_piece = $7, pages = $8, mark = $9,
         began_at = case when $6::text is not null then coalesce(began_at, now()) end,
         restarts = case when $6::text is null then 0 else restarts end,
         failing_since = case when $10 then failing_since end, last_error = case when $10 then last_error end,
         ended_at = case when $6::text is null then now() else ended_at end
     where source = $1 and settled is not distinct from $2 and place is not distinct from $3 and under_way = $4`,
    [
      ...[source, from.settled, from.place, from.underWay, settled, page.next, inOnePiece, pages],
      ...[ends ? null : mark, !isRecoveredBy(from, page)],
    ],
  );
}

/** Whether a page proves that the list can be had again: after a restart its end alone does, for the first pages were had before. */
export function isRecoveredBy(from: EventListing, page: Pick<ListedPage, 'next'>): boolean {
  return page.next === null || from.restarts === 0;
}

/**
 * Goes back to where the pass began, or, from there, to the beginning: the gateway does not know the place any more. Not twice in a
 * pass, or only an hour later: a gateway that refuses its own cursors would be listed in a circle.
 *
 * @returns false where it may not
 */
export async function restartEventListing(db: Db, source: string, from: EventListing): Promise<boolean> {
  return restart(db, source, from, `(not under_way or restarts = 0 or restarted_at < now() - interval '1 hour')`);
}

/** Goes back to where the pass began, for the next run. */
export async function abandonPass(db: Db, source: string, from: EventListing): Promise<void> {
  await restart(db, source, from, 'under_way');
}

async function restart(db: Db, source: string, from: EventListing, condition: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update event_listings
     set settled = case when under_way then settled end, place = null, under_way = false, in_one_piece = true, pages = 0, mark = null,
         restarts = restarts + 1, restarted_at = now(), began_at = coalesce(began_at, now())
     where source = $1 and settled is not distinct from $2 and place is not distinct from $3 and under_way = $4 and ${condition}`,
    [source, from.settled, from.place, from.underWay],
  );
  return rowCount === 1;
}

/** Keeps the place, and why the list could not be had. Answers since when it cannot. */
export async function noteListingFailed(db: Db, source: string, error: string): Promise<Date> {
  const { rows } = await db.query<{ failing_since: Date }>(
    `update event_listings set failing_since = coalesce(failing_since, now()), last_error = $2 where source = $1
     returning failing_since`,
    [source, error],
  );
  return rows[0]?.failing_since ?? new Date();
}
