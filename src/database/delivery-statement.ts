import type { AdmittedEvent } from '../domain/admit-event.ts';
import { deadLetterId, qualifiedEventId } from '../domain/keys.ts';

/*
 * What the statements have in common that take in events, delivered or found.
 */

/** One verified delivery, or one event that was found at the gateway, ready to be stored. */
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

/** Its parameters as a table `delivered`, numbered by `n` from 1 on. */
export const DELIVERED = `
  delivered as (
    select * from unnest(${COLUMNS.map(([, type], at) => `$${at + 1}::${type}[]`).join(', ')})
      with ordinality as d (${COLUMNS.map(([name]) => name).join(', ')}, n)
  )`;

export function deliveryValues(deliveries: readonly Delivery[]): unknown[] {
  return COLUMNS.map(([, , of]) => deliveries.map(of));
}

/**
 * Writes those of `delivered` whose ids are new, as a table `event` of their ids.
 *
 * @param foundAt an expression; null for events that were delivered
 */
export function newEvents(foundAt: 'now()' | null): string {
  return `
  event as (
    insert into webhook_events (source, event_id, event_type, payload, subject, object_id, payment_id, order_id, claimed,
                                reference, amount, currency, fee, occurred_at, body_sha256, state, outcome, last_error,
                                processed_at, found_at)
    select source, event_id, event_type, payload, subject, object_id, payment_id, order_id, claimed, reference,
           amount, currency, fee, to_timestamp(occurred_ms / 1000), body_sha256, state,
           case state when 'ignored' then reason end, case state when 'held' then reason end,
           case state when 'ignored' then now() end, ${foundAt ?? 'null::timestamptz'}
    from delivered order by source, event_id
    on conflict do nothing
    returning source, event_id
  )`;
}

/** An ignored event has its row at the gate. */
export const GATE_OF_IGNORED = `
  gate as (
    insert into processed_events (consumer, event_id, outcome)
    select 'payments', d.qualified_id, d.reason from delivered d join event using (source, event_id)
    where d.state = 'ignored' order by d.qualified_id
    on conflict do nothing
  )`;

/** A held event is put before a person. */
export const LETTER_OF_HELD = `
    insert into dead_letters (id, kind, source, event_id, order_id, payment_id, last_error)
    select d.letter_id, 'event_unreadable', d.source, d.event_id, d.order_id, d.payment_id, d.reason
    from delivered d join event using (source, event_id) where d.state = 'held'`;

function fingerprint({ bodySha256 }: Delivery): string {
  return bodySha256.toString('hex').slice(0, 16);
}
