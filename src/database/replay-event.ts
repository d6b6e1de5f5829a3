import type { Db } from './pool.ts';

/** What a replay woke; `paymentId` is null where the event belongs to no payment. */
export interface ReplayedEvent {
  readonly paymentId: string | null;
  readonly orderId: string | null;
}

/**
 * Asks for the event to be looked at again (H2): a fact without an event, so that it is harmless however often (C1). It is
 * as if just received, so that the relay takes it if this process dies now.
 *
 * @returns null where there is no such event
 */
export async function replayEvent(db: Db, source: string, eventId: string): Promise<ReplayedEvent | null> {
  const { rows } = await db.query<{ payment_id: string | null; order_id: string | null }>(
    `update webhook_events
     set look_again_at = case when payment_id is null then look_again_at else date_trunc('milliseconds', clock_timestamp()) end,
         handed_over_at = case when payment_id is null then handed_over_at end,
         next_look_at = null
     where source = $1 and event_id = $2 returning payment_id, order_id`,
    [source, eventId],
  );
  const row = rows[0];
  return row === undefined ? null : { paymentId: row.payment_id, orderId: row.order_id };
}
