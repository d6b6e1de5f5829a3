import { outboxEventId, parseOutboxEventId } from '../domain/keys.ts';
import type { Decision, DecidedRow } from './decide-dead-letter.ts';
import { deliveryDeadLetterId } from './finish-delivery.ts';
import type { Tx } from './pool.ts';

/**
 * A decision about an event that a consumer did not take. `retry`: it is tried anew, as often as at first. `give_up`: it is
 * skipped for good; an endpoint's delivery can still be resent by whoever asks for it.
 */
export async function decideDelivery(tx: Tx, row: DecidedRow, decision: Decision): Promise<void> {
  const outboxId = row.eventId === null ? null : parseOutboxEventId(row.eventId);
  if (outboxId === null) throw new Error(`Dead letter ${row.id} names no event of the outbox.`);
  const { rows } = await tx.query<{ consumer: string; target: string }>(
    `select consumer, target from consumer_deliveries where event_id = $1 and status in ('dead', 'in_progress')`,
    [outboxEventId(outboxId)],
  );
  const found = rows.find((delivery) => deliveryDeadLetterId({ outboxId, ...delivery }) === row.id);
  if (found === undefined) return;
  // One that somebody has resent meanwhile is under way already.
  await tx.query(
    decision.action === 'retry'
      ? `update consumer_deliveries set status = 'in_progress', leased_until = null
         where consumer = $1 and target = $2 and event_id = $3 and status = 'dead'`
      : `update consumer_deliveries set status = 'skipped', leased_until = null, last_error = 'Given up by a person.'
         where consumer = $1 and target = $2 and event_id = $3 and status in ('dead', 'in_progress')`,
    [found.consumer, found.target, outboxEventId(outboxId)],
  );
}
