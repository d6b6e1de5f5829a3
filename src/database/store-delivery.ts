import type { AdmittedEvent } from '../domain/admit-event.ts';
import { deadLetterId, qualifiedEventId } from '../domain/keys.ts';
import { type Db, queryWithin } from './pool.ts';

/** One verified delivery, ready to be stored. */
export interface Delivery {
  readonly source: string;
  readonly event: AdmittedEvent;
  /** The bytes as received, inflated. */
  readonly body: Buffer;
  readonly bodySha256: Buffer;
  /** Cleaned JSON text; null where the body is not JSON. */
  readonly payload: string | null;
  /** JSON text. */
  readonly headers: string;
  readonly remoteAddress: string | null;
}

export interface StoredDelivery {
  /** The id was known. */
  readonly duplicate: boolean;
  /** The id was known with other bytes (A4). */
  readonly differs: boolean;
  /** The payment whose workflow is to be woken; null where nothing waits. */
  readonly handOver: { readonly paymentId: string; readonly orderId: string | null } | null;
}

interface StoredRow {
  /** Which of the deliveries, from 1 on. */
  n: number;
  inserted: boolean;
  known: boolean;
  differs: boolean | null;
  state: string | null;
  handed_over: boolean | null;
  payment_id: string | null;
  order_id: string | null;
}

/** The ack must come while the gateway still listens (5 s), and getting a connection may have taken 2 s of that. */
const STORE_TIMEOUT_MS = 2_500;

/** What goes into the statement, a column each: its type, and what it is of a delivery. */
const COLUMNS: readonly (readonly [name: string, type: string, of: (delivery: Delivery) => unknown])[] = [
  ['source', 'text', (d) => d.source],
  ['event_id', 'text', (d) => d.event.eventId],
  ['event_type', 'text', (d) => d.event.eventType],
  ['payload', 'jsonb', (d) => d.payload],
  ['subject', 'text', (d) => d.event.subject],
  ['object_id', 'text', (d) => d.event.objectId],
  ['payment_id', 'text', (d) => d.event.paymentId],
  ['order_id', 'text', (d) => d.event.orderId],
  ['claimed', 'text', (d) => d.event.claimed],
  ['reference', 'text', (d) => d.event.reference],
  ['amount', 'bigint', (d) => d.event.amount],
  ['currency', 'text', (d) => d.event.currency],
  ['fee', 'bigint', (d) => d.event.fee],
  ['occurred_ms', 'float8', (d) => d.event.occurredAt],
  ['body_sha256', 'bytea', (d) => d.bodySha256],
  ['state', 'text', (d) => d.event.state],
  ['reason', 'text', (d) => d.event.reason],
  ['body', 'bytea', (d) => d.body],
  ['headers', 'jsonb', (d) => d.headers],
  ['remote_address', 'text', (d) => d.remoteAddress],
  ['qualified_id', 'text', (d) => qualifiedEventId(d.source, d.event.eventId)],
  ['letter_id', 'text', (d) => deadLetterId('event_unreadable', d.source, d.event.eventId)],
  [
    'letter_of_other_bytes_id',
    'text',
    (d) => deadLetterId('event_unreadable', d.source, d.event.eventId, fingerprint(d)),
  ],
];

/**
 * What a repeat with other bytes does to the event: its payment is looked at again; a person looks where that is not
 * enough. In milliseconds, since the workflow carries the time through JavaScript and compares it afterwards.
 */
const LOOK_AGAIN = `
  update webhook_events e
  set look_again_at = date_trunc('milliseconds', now()), handed_over_at = null, next_look_at = null`;

/**
 * Rows of several events are taken in the order of their ids by everybody: two groups in opposite order would wait for each
 * other for ever.
 */
const STORE = `
  with delivered as (
    select * from unnest(${COLUMNS.map(([, type], at) => `$${at + 1}::${type}[]`).join(', ')})
      with ordinality as d (${COLUMNS.map(([name]) => name).join(', ')}, n)
  ), seen as (
    select d.n, e.body_sha256 <> d.body_sha256 as differs, e.state, e.handed_over_at is not null as handed_over,
           e.payment_id, e.order_id
    from delivered d join webhook_events e using (source, event_id)
  ), event as (
    insert into webhook_events (source, event_id, event_type, payload, subject, object_id, payment_id, order_id, claimed,
                                reference, amount, currency, fee, occurred_at, body_sha256, state, outcome, last_error, processed_at)
    select source, event_id, event_type, payload, subject, object_id, payment_id, order_id, claimed, reference,
           amount, currency, fee, to_timestamp(occurred_ms / 1000), body_sha256, state,
           case state when 'ignored' then reason end, case state when 'held' then reason end,
           case state when 'ignored' then now() end
    from delivered order by source, event_id
    on conflict do nothing
    returning source, event_id
  ), delivery as (
    insert into webhook_deliveries (source, event_id, body, headers, remote_address, differs)
    select d.source, d.event_id, d.body, d.headers, d.remote_address, coalesce(s.differs, false)
    from delivered d left join seen s using (n)
  ), gate as (
    insert into processed_events (consumer, event_id, outcome)
    select 'payments', d.qualified_id, d.reason from delivered d join event using (source, event_id)
    where d.state = 'ignored' order by d.qualified_id
    on conflict do nothing
  ), letter as (
    insert into dead_letters (id, kind, source, event_id, order_id, payment_id, last_error)
    select d.letter_id, 'event_unreadable', d.source, d.event_id, d.order_id, d.payment_id, d.reason
    from delivered d join event using (source, event_id) where d.state = 'held'
    union all
    select d.letter_of_other_bytes_id, 'event_unreadable', d.source, d.event_id, d.order_id,
           coalesce(d.payment_id, s.payment_id),
           coalesce(d.reason, 'The gateway sent this id before, about ' || coalesce(s.payment_id, 'no payment') || '.')
    from delivered d join seen s using (n)
    where s.differs and d.state <> 'ignored' and (d.state = 'held' or s.payment_id is distinct from d.payment_id)
    order by 1
    on conflict do nothing
  ), different as (
    select e.source, e.event_id from webhook_events e
    join delivered d using (source, event_id) join seen s using (n)
    where s.differs and e.payment_id is not null
    order by e.source, e.event_id for no key update of e
  ), again as (
    ${LOOK_AGAIN} from different where e.source = different.source and e.event_id = different.event_id
  )
  select d.n::int, event.event_id is not null as inserted, seen.state is not null as known,
         seen.differs, seen.state, seen.handed_over, seen.payment_id, seen.order_id
  from delivered d left join event using (source, event_id) left join seen using (n)`;

/**
 * A copy that lost a race against the first one saw nothing to compare its bytes with; now it is there. Compares all
 * deliveries of the event, so that whoever comes second finds the same.
 */
const COMPARE_AFTER_RACE = `
  with event as (
    select source, event_id, body_sha256, state, handed_over_at is not null as handed_over, payment_id, order_id
    from webhook_events where source = $1 and event_id = $2
  ), marked as (
    update webhook_deliveries d set differs = true from event e
    where d.source = $1 and d.event_id = $2 and not d.differs and sha256(d.body) <> e.body_sha256
    returning 1
  ), again as (
    ${LOOK_AGAIN}
    where source = $1 and event_id = $2 and payment_id is not null and exists (select 1 from marked)
  )
  select 1 as n, false as inserted, true as known, body_sha256 <> $3 as differs, state, handed_over, payment_id, order_id
  from event`;

/**
 * Writes the events whose ids are new, and all the deliveries, in one statement (A3); an ignored event gets its gate row and
 * a held one its dead letter in the same one. When this returns, the deliveries are durable.
 *
 * @param deliveries each of another event: of two copies the later one must see the first
 * @returns in the order of the deliveries
 */
export async function storeDeliveries(db: Db, deliveries: readonly Delivery[]): Promise<StoredDelivery[]> {
  const values = COLUMNS.map(([, , of]) => deliveries.map(of));
  const rows = await queryWithin<StoredRow>(db, STORE_TIMEOUT_MS, STORE, values);
  const byNumber = new Map(rows.map((row) => [row.n, row]));
  return Promise.all(
    deliveries.map(async (delivery, at) => {
      const row = byNumber.get(at + 1);
      return result(delivery, row?.inserted || row?.known ? row : await compareAfterRace(db, delivery));
    }),
  );
}

/** One delivery alone. */
export async function storeDelivery(db: Db, delivery: Delivery): Promise<StoredDelivery> {
  const [stored] = await storeDeliveries(db, [delivery]);
  if (stored === undefined) throw new Error('The delivery was not stored.');
  return stored;
}

async function compareAfterRace(db: Db, { source, event, bodySha256 }: Delivery): Promise<StoredRow> {
  const values = [source, event.eventId, bodySha256];
  const [row] = await queryWithin<StoredRow>(db, STORE_TIMEOUT_MS, COMPARE_AFTER_RACE, values);
  if (row === undefined) throw new Error('The event that stood in the way of this delivery is gone.');
  return row;
}

function result({ event }: Delivery, row: StoredRow): StoredDelivery {
  if (row.inserted) {
    const { paymentId, orderId } = event;
    const waits = event.state === 'pending' && paymentId !== null;
    return { duplicate: false, differs: false, handOver: waits ? { paymentId, orderId } : null };
  }
  const { payment_id: paymentId, order_id: orderId } = row;
  const differs = row.differs ?? false;
  const waits = differs || (row.state === 'pending' && row.handed_over !== true);
  return { duplicate: true, differs, handOver: waits && paymentId !== null ? { paymentId, orderId } : null };
}

function fingerprint({ bodySha256 }: Delivery): string {
  return bodySha256.toString('hex').slice(0, 16);
}
