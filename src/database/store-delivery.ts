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

/**
 * What a repeat with other bytes does to the event: its payment is looked at again; a person looks where that is not
 * enough. In milliseconds, since the workflow carries the time through JavaScript and compares it afterwards.
 */
const LOOK_AGAIN = `
  update webhook_events set look_again_at = date_trunc('milliseconds', now()), handed_over_at = null, next_look_at = null`;

const STORE = `
  with seen as (
    select body_sha256 <> $12 as differs, state, handed_over_at is not null as handed_over, payment_id, order_id
    from webhook_events where source = $1 and event_id = $2
  ), event as (
    insert into webhook_events (source, event_id, event_type, payload, subject, object_id, payment_id, order_id, claimed,
                                reference, occurred_at, body_sha256, state, outcome, last_error, processed_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, to_timestamp($11::float8 / 1000), $12, $13,
            case $13 when 'ignored' then $14::text end, case $13 when 'held' then $14::text end,
            case $13 when 'ignored' then now() end)
    on conflict do nothing
    returning 1
  ), delivery as (
    insert into webhook_deliveries (source, event_id, body, headers, remote_address, differs)
    values ($1, $2, $15, $16, $17, coalesce((select differs from seen), false))
  ), gate as (
    insert into processed_events (consumer, event_id, outcome)
    select 'payments', $18, $14 from event where $13 = 'ignored'
    on conflict do nothing
  ), letter as (
    insert into dead_letters (id, kind, source, event_id, order_id, payment_id, last_error)
    select $19, 'event_unreadable', $1, $2, $8, $7, $14 from event where $13 = 'held'
    on conflict do nothing
  ), again as (
    ${LOOK_AGAIN}
    where source = $1 and event_id = $2 and payment_id is not null and (select differs from seen)
  ), letter_of_other_bytes as (
    insert into dead_letters (id, kind, source, event_id, order_id, payment_id, last_error)
    select $20, 'event_unreadable', $1, $2, $8, coalesce($7, payment_id),
           coalesce($14, 'The gateway sent this id before, about ' || coalesce(payment_id, 'no payment') || '.')
    from seen where differs and $13 <> 'ignored' and ($13 = 'held' or payment_id is distinct from $7)
    on conflict do nothing
  )
  select exists (select 1 from event) as inserted, seen.state is not null as known,
         seen.differs, seen.state, seen.handed_over, seen.payment_id, seen.order_id
  from (select 1) as one left join seen on true`;

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
  select false as inserted, true as known, body_sha256 <> $3 as differs, state, handed_over, payment_id, order_id from event`;

/**
 * Writes the event, if its id is new, and the delivery, in one statement (A3); an ignored event gets its gate row and a
 * held one its dead letter in the same one. When this returns, the delivery is durable.
 */
export async function storeDelivery(db: Db, delivery: Delivery): Promise<StoredDelivery> {
  const { source, event } = delivery;
  const stored = await run(db, STORE, parameters(delivery));
  const row =
    stored.inserted || stored.known
      ? stored
      : await run(db, COMPARE_AFTER_RACE, [source, event.eventId, delivery.bodySha256]);
  if (row.inserted) {
    const waits = event.state === 'pending' && event.paymentId !== null;
    return {
      duplicate: false,
      differs: false,
      handOver: waits ? { paymentId: event.paymentId, orderId: event.orderId } : null,
    };
  }
  const differs = row.differs ?? false;
  const waits = row.payment_id !== null && (differs || (row.state === 'pending' && row.handed_over !== true));
  return {
    duplicate: true,
    differs,
    handOver: waits && row.payment_id !== null ? { paymentId: row.payment_id, orderId: row.order_id } : null,
  };
}

function parameters({ source, event, body, bodySha256, payload, headers, remoteAddress }: Delivery): unknown[] {
  const fingerprint = bodySha256.toString('hex').slice(0, 16);
  return [
    ...[source, event.eventId, event.eventType, payload, event.subject, event.objectId, event.paymentId, event.orderId],
    ...[event.claimed, event.reference, event.occurredAt, bodySha256, event.state, event.reason],
    ...[body, headers, remoteAddress, qualifiedEventId(source, event.eventId)],
    deadLetterId('event_unreadable', source, event.eventId),
    deadLetterId('event_unreadable', source, event.eventId, fingerprint),
  ];
}

async function run(db: Db, text: string, values: unknown[]): Promise<StoredRow> {
  const [row] = await queryWithin<StoredRow>(db, STORE_TIMEOUT_MS, text, values);
  if (row === undefined) throw new Error('The event that stood in the way of this delivery is gone.');
  return row;
}
