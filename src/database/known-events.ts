import type { Db } from './pool.ts';

/** Which of these events of a source are in the inbox, whatever became of them; one statement for all. */
export async function knownEvents(db: Db, source: string, eventIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (eventIds.length === 0) return new Set();
  const { rows } = await db.query<{ event_id: string }>(
    'select event_id from webhook_events where source = $1 and event_id = any($2)',
    [source, eventIds],
  );
  return new Set(rows.map((row) => row.event_id));
}
