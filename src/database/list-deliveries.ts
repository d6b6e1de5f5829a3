import { WEBHOOK_CONSUMER } from '../domain/keys.ts';
import type { DeliveryStatus } from './delivery-key.ts';
import type { Db } from './pool.ts';

/** A delivery to an endpoint, as the API shows it. */
export interface DeliveryView {
  readonly n: bigint;
  readonly event_id: string;
  readonly event_type: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly created_at: string;
  readonly first_attempt_at: string | null;
  readonly last_attempt_at: string | null;
  readonly done_at: string | null;
}

export interface DeliveryRow extends Omit<
  DeliveryView,
  'created_at' | 'first_attempt_at' | 'last_attempt_at' | 'done_at'
> {
  planned_at: Date;
  first_attempt_at: Date | null;
  last_attempt_at: Date | null;
  done_at: Date | null;
}

export const DELIVERY_COLUMNS =
  'n, event_id, event_type, status, attempts, last_status, last_error, planned_at, first_attempt_at, last_attempt_at, done_at';

/** Newest first. */
export async function listDeliveries(
  db: Db,
  filter: {
    readonly endpointId: string;
    readonly status: DeliveryStatus | null;
    /** The number at which the page before ended. */
    readonly before: string | null;
    readonly limit: number;
  },
): Promise<{ readonly deliveries: readonly DeliveryView[]; readonly next: string | null }> {
  const { rows } = await db.query<DeliveryRow>(
    `select ${DELIVERY_COLUMNS} from consumer_deliveries
     where consumer = '${WEBHOOK_CONSUMER}' and target = $1 and ($2::text is null or status = $2) and ($3::bigint is null or n < $3)
     order by n desc limit $4`,
    [filter.endpointId, filter.status, filter.before, filter.limit + 1],
  );
  const shown = rows.slice(0, filter.limit);
  return {
    deliveries: shown.map(deliveryView),
    next: rows.length > filter.limit ? String(shown.at(-1)?.n) : null,
  };
}

export function deliveryView(row: DeliveryRow): DeliveryView {
  const { planned_at, first_attempt_at, last_attempt_at, done_at } = row;
  return {
    ...{ n: row.n, event_id: row.event_id, event_type: row.event_type, status: row.status, attempts: row.attempts },
    ...{ last_status: row.last_status, last_error: row.last_error, created_at: planned_at.toISOString() },
    first_attempt_at: first_attempt_at?.toISOString() ?? null,
    last_attempt_at: last_attempt_at?.toISOString() ?? null,
    done_at: done_at?.toISOString() ?? null,
  };
}
