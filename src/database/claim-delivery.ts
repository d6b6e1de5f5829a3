import { deliveryKeyValues, THIS_DELIVERY, type DeliveryKey, type DeliveryState } from './delivery-key.ts';
import type { Pool } from './pool.ts';

export type DeliveryClaim =
  /** `attempt` counts all that were ever made, and tells this one from any other. */
  | { readonly result: 'claimed'; readonly attempt: number }
  /** It is done, skipped or before a person: nothing is to be done. */
  | { readonly result: 'over'; readonly state: DeliveryState }
  /** Another attempt is under way, for so many milliseconds at most. */
  | { readonly result: 'leased'; readonly forMs: number };

/**
 * Claims a delivery for one attempt (G3), by one conditional update: of two attempts at once one acts. Whoever dies with it
 * holds it up until the lease is over.
 *
 * @param leaseMs longer than the attempt can take
 * @throws Error where there is no such delivery: it was not planned
 */
export async function claimDelivery(pool: Pool, key: DeliveryKey, leaseMs: number): Promise<DeliveryClaim> {
  const values = deliveryKeyValues(key);
  const claimed = await pool.query<{ attempts: number }>(
    `update consumer_deliveries
     set leased_until = clock_timestamp() + $4 * interval '1 millisecond', attempts = attempts + 1,
         first_attempt_at = coalesce(first_attempt_at, clock_timestamp()), last_attempt_at = clock_timestamp()
     where ${THIS_DELIVERY} and status = 'in_progress' and (leased_until is null or leased_until <= clock_timestamp())
     returning attempts`,
    [...values, leaseMs],
  );
  const mine = claimed.rows[0];
  if (mine !== undefined) return { result: 'claimed', attempt: mine.attempts };
  const { rows } = await pool.query<DeliveryState & { forMs: number }>(
    `select status, attempts,
            coalesce(greatest(0, extract(epoch from leased_until - clock_timestamp()) * 1000), 0)::float8 as "forMs"
     from consumer_deliveries where ${THIS_DELIVERY}`,
    values,
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`No delivery of outbox:${key.outboxId} to ${key.consumer} was planned.`);
  const { status, attempts, forMs } = row;
  return status === 'in_progress'
    ? { result: 'leased', forMs: Math.ceil(forMs) }
    : { result: 'over', state: { status, attempts } };
}
