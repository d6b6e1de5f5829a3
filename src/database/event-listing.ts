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
  /** The gateway gave no list the last time. */
  readonly failing: boolean;
}

interface Row {
  since: Date;
  settled: string | null;
  place: string | null;
  under_way: boolean;
  failing: boolean;
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
    db.query<Row>(
      'select since, settled, place, under_way, failing_since is not null as failing from event_listings where source = $1',
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
  const { under_way: underWay, ...listing } = row;
  return { ...listing, underWay };
}

/** What a page moved: to be saved only once all that it covers is durable. */
export interface ListedPage {
  /** Null: the pass is at its end. */
  readonly next: string | null;
  readonly settled: boolean;
}

/**
 * Moves a listing past the page that began at `from`; does nothing where somebody else has moved it meanwhile. The next pass begins
 * where the settled part of the list ends, which is what comes in one piece from where the last one began.
 */
export async function moveEventListing(db: Db, source: string, from: EventListing, page: ListedPage): Promise<void> {
  const at = from.underWay ? from.place : from.settled;
  const settled = page.settled && page.next !== null && at === from.settled ? page.next : from.settled;
  await db.query(
    `update event_listings
     set settled = $5, place = $6, under_way = $6::text is not null, failing_since = null, last_error = null,
         ended_at = case when $6::text is null then now() else ended_at end
     where source = $1 and settled is not distinct from $2 and place is not distinct from $3 and under_way = $4`,
    [source, from.settled, from.place, from.underWay, settled, page.next],
  );
}

/** Goes back to where the pass began, or, from there, to the beginning: the gateway does not know the place any more. */
export async function restartEventListing(db: Db, source: string, from: EventListing): Promise<void> {
  await db.query(
    `update event_listings set settled = case when under_way then settled end, place = null, under_way = false
     where source = $1 and settled is not distinct from $2 and place is not distinct from $3 and under_way = $4`,
    [source, from.settled, from.place, from.underWay],
  );
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
