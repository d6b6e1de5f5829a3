import type { PoolClient } from 'pg';
import type { WaitingEvent } from './read-payment-work.ts';

/**
 * Takes the rows of events in one order for all who take several (an update of many rows takes them in whatever order it meets
 * them, and two of those can wait for each other), and answers those that still wait, as they stand now. What a twin of this
 * attempt has acted on since they were read is not acted on again (C1): one that took too long is begun anew, and goes on.
 */
export async function lockEvents(
  tx: PoolClient,
  source: string,
  events: readonly WaitingEvent[],
): Promise<WaitingEvent[]> {
  if (events.length === 0) return [];
  const { rows } = await tx.query<{
    event_id: string;
    state: WaitingEvent['state'];
    attempts: number;
    next_look_at: Date | null;
  }>(
    `select e.event_id, e.state, e.attempts, e.next_look_at
     from webhook_events e
     join unnest($2::text[], $3::timestamptz[]) as read (event_id, look_again_at) on read.event_id = e.event_id
     where e.source = $1 and (e.state = 'pending' or e.look_again_at = read.look_again_at or e.state = 'held' and e.next_look_at is not null)
     order by e.event_id for no key update of e`,
    [source, events.map((event) => event.eventId), events.map((event) => event.lookAgainAt)],
  );
  const waiting = new Map(rows.map((row) => [row.event_id, row]));
  return events.flatMap((event) => {
    const now = waiting.get(event.eventId);
    if (now === undefined) return [];
    return [{ ...event, state: now.state, attempts: now.attempts, nextLookAt: now.next_look_at }];
  });
}
