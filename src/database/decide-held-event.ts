import { qualifiedEventId } from '../domain/keys.ts';
import type { Decision, DecidedRow } from './decide-dead-letter.ts';
import type { Tx } from './pool.ts';

/**
 * A decision about one event that could not be understood. `retry`: it is looked at again, by its payment's workflow; one that
 * named none is read anew afterwards, by those who know its gateway. `give_up`: it is ignored, and counts as acted on.
 */
export async function decideHeldEvent(tx: Tx, row: DecidedRow, decision: Decision): Promise<void> {
  const { source, eventId } = row;
  if (source === null || eventId === null) return;
  if (decision.action === 'retry') {
    await tx.query(
      `update webhook_events
       set look_again_at = date_trunc('milliseconds', clock_timestamp()), handed_over_at = null, next_look_at = null
       where source = $1 and event_id = $2 and payment_id is not null`,
      [source, eventId],
    );
    return;
  }
  const outcome = `given up: ${decision.note}`;
  const ignored = await tx.query(
    `update webhook_events
     set state = 'ignored', outcome = $3, processed_at = clock_timestamp(), next_look_at = null, look_again_at = null
     where source = $1 and event_id = $2 and state = 'held'`,
    [source, eventId, outcome],
  );
  if (ignored.rowCount === 0) return;
  await tx.query(
    `insert into processed_events (consumer, event_id, outcome) values ('payments', $1, $2) on conflict do nothing`,
    [qualifiedEventId(source, eventId), outcome],
  );
}
