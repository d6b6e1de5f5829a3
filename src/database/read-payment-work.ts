import type { Pool } from 'pg';
import type { EventReading, EventSubject } from '../domain/event-reading.ts';
import { UNREAD } from '../domain/unread-payment.ts';

/** An event that waits to be covered by a fetch. */
export interface WaitingEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly subject: EventSubject | null;
  readonly objectId: string | null;
  readonly orderId: string | null;
  readonly claimed: EventReading['claimed'];
  readonly state: 'pending' | 'processed' | 'ignored' | 'held';
  readonly receivedAt: Date;
  readonly attempts: number;
  /** Of a held one: it is before a person, and looked at all the same. */
  readonly nextLookAt: Date | null;
  /** As the database spells it, to the microsecond: cleared only if it is still this one. */
  readonly lookAgainAt: string | null;
}

/** What the workflow of a payment has before it. */
export interface PaymentWork {
  readonly events: readonly WaitingEvent[];
  /** More wait than one step takes. */
  readonly more: boolean;
  /** The gateway gave no answer about it that could be used when it was last asked. */
  readonly unread: boolean;
  /** What is known of the payment so far. */
  readonly payment: {
    readonly orderId: string | null;
    /** Its capture has been decided: it belongs to that order from then on, whatever the gateway's object says later. */
    readonly decided: boolean;
    readonly refundsKnown: boolean;
    /** Captured, and its order was not there when it was last looked at. */
    readonly waits: boolean;
  } | null;
}

/** A flood costs few steps, and one step stays well below a local activity's time. */
const EVENTS_PER_STEP = 500;

/** All unprocessed events of a payment, oldest first, in one round trip; with those before a person that are looked at all the same. */
export async function readPaymentWork(pool: Pool, source: string, paymentId: string): Promise<PaymentWork> {
  const { rows } = await pool.query<{
    payment: { order_id: string | null; decided: boolean; refunds_known: boolean; waits: boolean } | null;
    events: {
      event_id: string;
      event_type: string;
      subject: EventSubject | null;
      object_id: string | null;
      order_id: string | null;
      claimed: EventReading['claimed'];
      state: WaitingEvent['state'];
      received_at: string;
      attempts: number;
      next_look_at: string | null;
      look_again_at: string | null;
    }[];
    unread: boolean;
  }>(
    `select exists (select from webhook_events where source = $1 and payment_id = $2 and state in ('pending', 'held')
                    and starts_with(last_error, $4)) as unread,
       (select json_build_object('order_id', p.order_id,
          'waits', p.waiting_for is not null,
          'decided', p.status = 'captured' and p.waiting_for is null,
          'refunds_known', exists (select from refunds r where r.source = $1 and r.payment_id = $2))
        from payments p where p.source = $1 and p.payment_id = $2) as payment,
       (select coalesce(json_agg(e order by e.received_at, e.event_id), '[]') from (
          select event_id, event_type, subject, object_id, order_id, claimed, state, received_at, attempts, next_look_at,
                 look_again_at
          from webhook_events
          where source = $1 and payment_id = $2
            and (state = 'pending' or look_again_at is not null or state = 'held' and next_look_at is not null)
          -- those that have waited for nothing yet come before those that go on waiting
          order by coalesce(next_look_at, '-infinity'), received_at, event_id limit $3) e) as events`,
    [source, paymentId, EVENTS_PER_STEP, UNREAD],
  );
  const row = rows[0];
  if (row === undefined) throw new Error('A query without a table always has a row.');
  return {
    more: row.events.length === EVENTS_PER_STEP,
    unread: row.unread,
    events: row.events.map((e) => ({
      eventId: e.event_id,
      eventType: e.event_type,
      subject: e.subject,
      objectId: e.object_id,
      orderId: e.order_id,
      claimed: e.claimed,
      state: e.state,
      receivedAt: new Date(e.received_at),
      attempts: e.attempts,
      nextLookAt: e.next_look_at === null ? null : new Date(e.next_look_at),
      lookAgainAt: e.look_again_at,
    })),
    payment:
      row.payment === null
        ? null
        : {
            orderId: row.payment.order_id,
            decided: row.payment.decided,
            refundsKnown: row.payment.refunds_known,
            waits: row.payment.waits,
          },
  };
}
