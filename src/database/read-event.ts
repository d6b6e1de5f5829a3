import type { Db } from './pool.ts';

/** An event of the inbox as the API shows it; field names are those of the contract. */
export interface EventView {
  readonly source: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly payment_id: string | null;
  readonly order_id: string | null;
  readonly state: 'pending' | 'processed' | 'ignored' | 'held';
  /** What became of it: the payment's outcome, or why it was ignored. */
  readonly outcome: string | null;
  readonly received_at: string;
  readonly handed_over_at: string | null;
  readonly processed_at: string | null;
  readonly attempts: number;
  readonly last_error: string | null;
  /** When it was found at the gateway without its webhook having come; null for a delivered one. */
  readonly found_at: string | null;
  /** One per accepted delivery, the first included. */
  readonly deliveries: readonly { readonly received_at: string; readonly differs: boolean }[];
}

export interface FullEventView extends EventView {
  /** The first delivery's body, or what the gateway listed; null once it is older than what is kept. */
  readonly raw_base64: string | null;
  readonly headers: Readonly<Record<string, unknown>> | null;
}

export interface EventRow {
  source: string;
  event_id: string;
  event_type: string;
  payment_id: string | null;
  order_id: string | null;
  state: EventView['state'];
  outcome: string | null;
  received_at: Date;
  handed_over_at: Date | null;
  processed_at: Date | null;
  attempts: number;
  last_error: string | null;
  found_at: Date | null;
  deliveries: { received_at: string; differs: boolean }[];
}

/** The columns of an event, for a statement whose table of events is called `e`. */
export const EVENT_COLUMNS = `
  e.source, e.event_id, e.event_type, e.payment_id, e.order_id, e.state, e.outcome, e.received_at, e.handed_over_at,
  e.processed_at, e.attempts, e.last_error, e.found_at,
  (select coalesce(json_agg(json_build_object('received_at', d.received_at, 'differs', d.differs) order by d.received_at), '[]')
   from webhook_deliveries d where d.source = e.source and d.event_id = e.event_id and not d.found) as deliveries`;

export function eventView(row: EventRow): EventView {
  return {
    source: row.source,
    event_id: row.event_id,
    event_type: row.event_type,
    payment_id: row.payment_id,
    order_id: row.order_id,
    state: row.state,
    outcome: row.outcome,
    received_at: row.received_at.toISOString(),
    handed_over_at: row.handed_over_at?.toISOString() ?? null,
    processed_at: row.processed_at?.toISOString() ?? null,
    attempts: row.attempts,
    last_error: row.last_error,
    found_at: row.found_at?.toISOString() ?? null,
    deliveries: row.deliveries.map((d) => ({ ...d, received_at: new Date(d.received_at).toISOString() })),
  };
}

/** One event with the bytes as they were received; null where there is none. */
export async function readEvent(db: Db, source: string, eventId: string): Promise<FullEventView | null> {
  const { rows } = await db.query<EventRow & { body: Buffer | null; headers: Record<string, unknown> | null }>(
    `select ${EVENT_COLUMNS}, first.body, first.headers
     from webhook_events e
     left join lateral (
       select d.body, d.headers from webhook_deliveries d
       where d.source = e.source and d.event_id = e.event_id
       -- a copy with other bytes may have been quicker to the table than the one that made the event
       order by d.differs, d.received_at limit 1) as first on true
     where e.source = $1 and e.event_id = $2`,
    [source, eventId],
  );
  const row = rows[0];
  if (row === undefined) return null;
  return { ...eventView(row), raw_base64: row.body?.toString('base64') ?? null, headers: row.headers };
}
