import type { Db } from './pool.ts';

/** Writes at the waiting events why the gateway could not be asked; the engine asks again. */
export async function noteLookFailed(
  db: Db,
  source: string,
  events: readonly { readonly eventId: string }[],
  message: string,
): Promise<void> {
  const [first] = events;
  // One is enough for whoever looks, and one row cannot wait for another.
  if (first === undefined) return;
  await db.query(
    `update webhook_events set last_error = $3 where source = $1 and event_id = $2 and state = 'pending'`,
    [source, first.eventId, message],
  );
}
