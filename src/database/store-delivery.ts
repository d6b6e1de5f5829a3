import {
  type Delivery,
  DELIVERED,
  deliveryValues,
  GATE_OF_IGNORED,
  LETTER_OF_HELD,
  newEvents,
} from './delivery-statement.ts';
import { type Db, queryWithin } from './pool.ts';

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
  /** Known before, and compared with what was. */
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
  update webhook_events e
  set look_again_at = date_trunc('milliseconds', now()), handed_over_at = null, next_look_at = null`;

/**
 * A list writes an event's JSON as it likes: the bytes of one that was found are compared with none, and those of its first
 * delivery stand for it from then on, as long as they say the same.
 */
const IS_FIRST_AS_FOUND = `
      (e.found_at is not null
       and not exists (select from webhook_deliveries w where w.source = e.source and w.event_id = e.event_id and not w.found)
       and (e.state = 'held') = (d.state = 'held')
       and (e.event_type, e.payment_id, e.object_id, e.claimed, e.amount, e.currency)
           is not distinct from (d.event_type, d.payment_id, d.object_id, d.claimed, d.amount, d.currency))`;

/**
 * Rows of several events are taken in the order of their ids by everybody: two groups in opposite order would wait for each
 * other for ever.
 */
const STORE = `
  with ${DELIVERED}, seen as (
    select d.n, e.body_sha256 <> d.body_sha256 and not ${IS_FIRST_AS_FOUND} as differs, e.body_sha256 as known_sha256,
           e.state, e.handed_over_at is not null as handed_over, e.payment_id, e.order_id
    from delivered d join webhook_events e using (source, event_id)
  ), ${newEvents(null)}, delivery as (
    insert into webhook_deliveries (source, event_id, body, headers, remote_address, differs)
    select d.source, d.event_id, d.body, d.headers, d.remote_address, coalesce(s.differs, false)
    from delivered d left join seen s using (n)
  ), ${GATE_OF_IGNORED}, letter as (
    ${LETTER_OF_HELD}
    union all
    select d.letter_of_other_bytes_id, 'event_unreadable', d.source, d.event_id, d.order_id,
           coalesce(d.payment_id, s.payment_id),
           coalesce(d.reason, 'The gateway sent this id before, about ' || coalesce(s.payment_id, 'no payment') || '.')
    from delivered d join seen s using (n)
    where s.differs and d.state <> 'ignored' and (d.state = 'held' or s.payment_id is distinct from d.payment_id)
    order by 1
    on conflict do nothing
  ), other as (
    select e.source, e.event_id, s.differs, s.known_sha256, d.body_sha256 from webhook_events e
    join delivered d using (source, event_id) join seen s using (n)
    where case when s.differs then e.payment_id is not null else s.known_sha256 <> d.body_sha256 end
    order by e.source, e.event_id for no key update of e
  ), again as (
    ${LOOK_AGAIN} from other where other.differs and e.source = other.source and e.event_id = other.event_id
  ), first as (
    update webhook_events e set body_sha256 = other.body_sha256 from other
    where not other.differs and e.source = other.source and e.event_id = other.event_id and e.body_sha256 = other.known_sha256
    returning e.source, e.event_id
  )
  select d.n::int, event.event_id is not null as inserted,
         -- of two first deliveries of an event that was found, the later one saw nothing to be compared with
         seen.state is not null and not exists (
           select from other left join first using (source, event_id)
           where other.source = d.source and other.event_id = d.event_id and not other.differs and first.event_id is null) as known,
         seen.differs, seen.state, seen.handed_over, seen.payment_id, seen.order_id
  from delivered d left join event using (source, event_id) left join seen using (n)`;

/**
 * A copy that lost a race against the first one saw nothing to compare its bytes with; now it is there. Compares all
 * deliveries of the event, so that whoever comes second finds the same. Where the winner was the list, the one delivery there is
 * becomes the first.
 */
const COMPARE_AFTER_RACE = `
  with event as (
    select source, event_id, state, body_sha256 as known_sha256,
           case when found_at is not null
                     and (select count(*) from webhook_deliveries where source = $1 and event_id = $2 and not found) = 1
                then $3 else body_sha256 end as body_sha256, handed_over_at is not null as handed_over, payment_id, order_id
    from webhook_events where source = $1 and event_id = $2
  ), marked as (
    update webhook_deliveries d set differs = true from event e
    where d.source = $1 and d.event_id = $2 and not d.found and not d.differs and sha256(d.body) <> e.body_sha256
    returning 1
  ), first as (
    update webhook_events e set body_sha256 = event.body_sha256 from event
    where e.source = $1 and e.event_id = $2 and event.body_sha256 <> event.known_sha256
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
  const rows = await queryWithin<StoredRow>(db, STORE_TIMEOUT_MS, STORE, deliveryValues(deliveries));
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
