import type { PoolClient } from 'pg';

/** One row of the outbox. Payloads carry ids and amounts (decimal strings), never personal data. */
export interface Announcement {
  readonly eventType: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** What a `….requested` row asks for, when it is not the order itself: a refund's id, a checkout's. */
  readonly aggregateId?: string;
}

/**
 * Writes events into the outbox in the transaction that made them true (G1). Those about an order get its next versions.
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
     insert into outbox (event_type, aggregate_id, aggregate_version, payload)
     select e.event_type, coalesce(e.aggregate_id, $1, ''), coalesce((select base from version), (select max(aggregate_version) from outbox where aggregate_id = $1), 0) + e.n, e.payload
     from unnest($3::text[], $4::text[], $5::jsonb[]) with ordinality as e (event_type, aggregate_id, payload, n)`,
    [
      orderId,
      announcements.length,
      announcements.map((a) => a.eventType),
      announcements.map((a) => a.aggregateId ?? null),
      announcements.map((a) => JSON.stringify(a.payload)),
    ],
  );
}
