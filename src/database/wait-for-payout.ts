import { deadLetterId, qualifiedEventId } from '../domain/keys.ts';
import { nextGatewayLookMs } from '../domain/look-schedule.ts';
import { openDeadLetter } from './open-dead-letter.ts';
import { inTransaction, type Pool } from './pool.ts';

/**
 * An event of a payout that we have no row for. Without a reference of ours it is the gateway's own and ignored. With one it
 * waits, as an event that claims more than is known does, and then goes before a human: money may have left by our name.
 */
export async function waitForPayout(
  pool: Pool,
  event: { readonly source: string; readonly eventId: string; readonly reference: string | null },
): Promise<void> {
  const { source, eventId, reference } = event;
  await inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<{ attempts: number }>(
      `select attempts from webhook_events where source = $1 and event_id = $2 and state = 'pending' for no key update`,
      [source, eventId],
    );
    const attempts = rows[0]?.attempts;
    if (attempts === undefined) return;
    if (reference === null) {
      const outcome = "gateway's own payout";
      await tx.query(
        `update webhook_events set state = 'ignored', outcome = $3, processed_at = clock_timestamp() where source = $1 and event_id = $2`,
        [source, eventId, outcome],
      );
      await tx.query(
        `insert into processed_events (consumer, event_id, outcome) values ('payments', $1, $2) on conflict do nothing`,
        [qualifiedEventId(source, eventId), outcome],
      );
      return;
    }
    const wait = nextGatewayLookMs(attempts);
    const lastError = `No payout of ours carries the reference ${reference}.`;
    await tx.query(
      `update webhook_events
       set attempts = attempts + 1, last_error = $4, state = case when $3::float8 is null then 'held' else 'pending' end,
           next_look_at = now() + make_interval(secs => $3::float8 / 1000),
           claimed_until = now() + make_interval(secs => $3::float8 / 1000)
       where source = $1 and event_id = $2`,
      [source, eventId, wait, lastError],
    );
    if (wait !== null) return;
    const id = deadLetterId('event_unreadable', source, eventId);
    await openDeadLetter(tx, { id, kind: 'event_unreadable', source, eventId, lastError });
  });
}
