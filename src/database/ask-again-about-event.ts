import { deadLetterId } from '../domain/keys.ts';
import { openDeadLetter } from './open-dead-letter.ts';
import { inTransaction, type Pool } from './pool.ts';

/** Puts an event before a person once more that was tried again in vain, unless something came of it meanwhile. */
export async function askAgainAboutEvent(
  pool: Pool,
  source: string,
  eventId: string,
  lastError: string,
): Promise<boolean> {
  return inTransaction(pool, async (tx) => {
    const held = await tx.query(
      `update webhook_events set last_error = $3 where source = $1 and event_id = $2 and state = 'held' and payment_id is null`,
      [source, eventId, lastError],
    );
    if (held.rowCount === 0) return false;
    const id = deadLetterId('event_unreadable', source, eventId);
    await openDeadLetter(tx, { id, kind: 'event_unreadable', source, eventId, lastError });
    return true;
  });
}
