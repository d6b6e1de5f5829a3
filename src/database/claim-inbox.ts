import type { Pool } from 'pg';

/** An event that Temporal does not have yet, or has had for too long. */
export interface UnhandedEvent {
  readonly source: string;
  readonly eventId: string;
  /** Null for a payout's event. */
  readonly paymentId: string | null;
  readonly subject: string | null;
  /** The gateway's id of the payout. */
  readonly objectId: string | null;
  /** Ours, where the event carries one. */
  readonly reference: string | null;
  readonly orderId: string | null;
}

/**
 * The API hands over right after its commit; what is older than this it did not hand over, or not yet. Sweeping earlier only
 * signals twice.
 */
const GRACE_SECONDS = 1;
/** A relay that dies with a claim in hand holds its rows up this long. */
const LEASE_SECONDS = 30;
/** Handed over, and neither processed nor waiting for a named time: the run is gone (A5). */
const LOST_MINUTES = 10;

/**
 * Claims a batch of events for handing over, in one short statement: several relays never take the same row, and one that dies
 * lets go when its claim runs out (G2).
 */
export async function claimInbox(pool: Pool, batch: number): Promise<UnhandedEvent[]> {
  const { rows } = await pool.query<UnhandedEvent>(
    `with due as (
       select source, event_id from webhook_events
       where (state = 'pending' or look_again_at is not null)
         and (payment_id is not null or subject = 'payout')
         and (claimed_until is null or claimed_until < now())
         and (handed_over_at is null and (received_at < now() - make_interval(secs => ${GRACE_SECONDS}) or look_again_at is not null)
           or handed_over_at < now() - make_interval(mins => ${LOST_MINUTES})
             and (next_look_at is null or next_look_at < now() - make_interval(mins => ${LOST_MINUTES})))
       order by received_at limit $1
       for no key update skip locked)
     update webhook_events e set claimed_until = now() + make_interval(secs => ${LEASE_SECONDS})
     from due where e.source = due.source and e.event_id = due.event_id
     returning e.source, e.event_id as "eventId", e.payment_id as "paymentId", e.order_id as "orderId",
               e.subject, e.object_id as "objectId", e.reference`,
    [batch],
  );
  return rows;
}
