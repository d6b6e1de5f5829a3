import { DISPUTE_LACKS_AMOUNT, type DisputeReport } from '../domain/dispute-standing.ts';
import type { DisputeStatus } from '../domain/event-reading.ts';
import type { Tx } from './pool.ts';
import type { WaitingEvent } from './read-payment-work.ts';

/** One event about a dispute, as a report on it. */
export interface DisputeEvent extends DisputeReport {
  readonly disputeId: string;
  /** It was held until an amount would be known, and is not among those that are looked at now. */
  readonly waits: WaitingEvent | null;
}

/**
 * What events have ever said of these disputes of a payment: those that were acted on, those that are looked at now, and those
 * that wait for an amount. What a person gave up, and what contradicts the gateway, does not count.
 */
export async function readDisputeEvents(
  tx: Tx,
  about: { readonly source: string; readonly paymentId: string; readonly events: readonly WaitingEvent[] },
  disputeIds: readonly string[],
): Promise<DisputeEvent[]> {
  if (disputeIds.length === 0) return [];
  const now = about.events.map((event) => event.eventId);
  const { rows } = await tx.query<
    WaitingEvent & { disputeId: string; amount: bigint; currency: string; fee: bigint; occurredAt: Date | null }
  >(
    `select event_id as "eventId", event_type as "eventType", subject, object_id as "objectId", order_id as "orderId", claimed,
            state, received_at as "receivedAt", attempts, next_look_at as "nextLookAt", look_again_at::text as "lookAgainAt",
            coalesce(object_id, payment_id) as "disputeId", amount, currency, fee, occurred_at as "occurredAt"
     from webhook_events
     where source = $1 and payment_id = $2 and subject = 'dispute' and claimed is not null
       and coalesce(object_id, payment_id) = any($3)
       and (state = 'processed' or event_id = any($4) or state = 'held' and last_error = $5)
     order by event_id`,
    [about.source, about.paymentId, disputeIds, now, DISPUTE_LACKS_AMOUNT],
  );
  return rows.map(({ disputeId, amount, currency, fee, occurredAt, ...event }) => ({
    ...{ disputeId, status: event.claimed as DisputeStatus, amount, currency, fee, feeCurrency: null },
    at: occurredAt?.getTime() ?? null,
    waits: event.state === 'held' && !now.includes(event.eventId) ? event : null,
  }));
}
