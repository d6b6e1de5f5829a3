import type { PoolClient } from 'pg';

/** One row of the outbox. Payloads carry ids and amounts (decimal strings), never personal data. */
export interface Announcement {
  readonly eventType: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** What a `….requested` row asks for, when it is not the order itself: a refund's id, a checkout's. */
  readonly aggregateId?: string;
}

/**
 * Writes events into the outbox in the transaction that made them true (G1). Those about an order get its next versions; those
 * about none (a payout, a refund of a payment without an order) get the row's own number, which grows as well: whoever
 * announces holds the row that the event is about.
 */
export async function announce(
  tx: PoolClient,
  orderId: string | null,
  announcements: readonly Announcement[],
): Promise<void> {
  if (announcements.length === 0) return;
  await tx.query(
    `with version as (
       update orders set aggregate_version = aggregate_version + $2 where id = $1 returning aggregate_version - $2 as base)
     insert into outbox (id, event_type, aggregate_id, aggregate_version, payload)
     overriding system value
     select e.id, e.event_type, coalesce(e.aggregate_id, $1, ''),
            case when $1::text is null then e.id
                 else coalesce((select base from version), (select max(aggregate_version) from outbox where aggregate_id = $1), 0) + e.n end,
            e.payload
     from (select nextval(pg_get_serial_sequence('outbox', 'id')) as id, u.*
           from unnest($3::text[], $4::text[], $5::jsonb[]) with ordinality as u (event_type, aggregate_id, payload, n)) e`,
    [
      orderId,
      announcements.length,
      announcements.map((a) => a.eventType),
      announcements.map((a) => a.aggregateId ?? null),
      announcements.map((a) => JSON.stringify(a.payload)),
    ],
  );
}
