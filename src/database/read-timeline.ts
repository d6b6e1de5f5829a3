import type { Db } from './pool.ts';

/** Something that happened to a payment, with what is needed to say it; `what` says which of them. */
export interface TimelineRow {
  readonly at: Date;
  readonly what:
    | 'delivery'
    | 'found'
    | 'handed_over'
    | 'event'
    | 'order'
    | 'payment'
    | 'dispute'
    | 'capture'
    | 'void'
    | 'refund'
    | 'booking'
    | 'loyalty'
    | 'gift_card'
    | 'package'
    | 'invoice'
    | 'posting'
    | 'told'
    | 'dead_letter'
    | 'dead_letter_closed';
  /** Texts, numbers and truth values; amounts as decimal text. */
  readonly data: Readonly<Record<string, string | number | boolean | null>>;
}

/**
 * When the transaction that wrote a row decided: rows carry the time of its beginning, its decision the time it was made,
 * and a consequence must not be shown before its decision.
 */
const DECIDED = `
  decided as (
    select max(at) as at from state_transitions
    where machine = 'order' and source = $1 and payment_id = $2 and detail in ('marked_paid', 'partially_paid')
  ), refunded as (
    select object_id as refund_id, at from state_transitions
    where machine = 'refund' and source = $1 and payment_id = $2
    union all
    -- as consequences name a dispute that took them back
    select 'dispute:' || object_id, at from state_transitions
    where machine = 'dispute' and source = $1 and payment_id = $2
  ), paid as (
    select id from orders where paid_source = $1 and paid_payment_id = $2
  )`;

/** Of a refund, or a dispute, that changed several times: its first decision since the row's transaction began. */
const decidedSince = (refundId: string, at: string): string =>
  `(select min(r.at) from refunded r where r.refund_id = ${refundId} and r.at >= ${at})`;

const PARTS = [
  `select d.received_at, 'delivery', json_build_object('event_id', event_id, 'event_type', e.event_type,
          'repeat', row_number() over (partition by event_id order by d.received_at) > 1, 'differs', d.differs)
   from webhook_events e join webhook_deliveries d using (source, event_id) where e.source = $1 and e.payment_id = $2 and not d.found`,
  // Deliveries are kept for some weeks; that the event came is kept for good.
  `select e.received_at, 'delivery', json_build_object('event_id', event_id, 'event_type', e.event_type,
          'repeat', false, 'differs', false)
   from webhook_events e where e.source = $1 and e.payment_id = $2 and e.found_at is null
     and not exists (select 1 from webhook_deliveries d where d.source = e.source and d.event_id = e.event_id)`,
  `select e.found_at, 'found', json_build_object('event_id', event_id, 'event_type', e.event_type,
          'came', exists (select 1 from webhook_deliveries d where d.source = e.source and d.event_id = e.event_id and not d.found))
   from webhook_events e where e.source = $1 and e.payment_id = $2 and e.found_at is not null`,
  `select handed_over_at, 'handed_over', json_build_object('event_id', event_id)
   from webhook_events where source = $1 and payment_id = $2 and handed_over_at is not null`,
  `select coalesce(processed_at, received_at), 'event', json_build_object('event_id', event_id, 'state', state,
          'outcome', outcome, 'attempts', attempts, 'last_error', last_error)
   from webhook_events where source = $1 and payment_id = $2 and (state <> 'pending' or attempts > 0)`,
  `select at, machine, json_build_object('object_id', object_id, 'from', from_status, 'to', to_status, 'cause', cause,
          'detail', detail)
   from state_transitions where source = $1 and payment_id = $2 and machine in ('order', 'payment', 'dispute', 'capture', 'void')`,
  `select t.at, 'refund', json_build_object('refund_id', t.object_id, 'from', t.from_status, 'to', t.to_status,
          'cause', t.cause, 'detail', t.detail, 'kind', r.kind, 'amount', r.amount::text, 'currency', r.currency)
   from state_transitions t left join refunds r on r.id = t.object_id
   where t.machine = 'refund' and t.source = $1 and t.payment_id = $2`,
  `select greatest(b.confirmed_at, decided.at), 'booking', json_build_object('line_id', line_id, 'kind', kind,
          'status', 'confirmed', 'refund_id', null)
   from bookings b cross join decided where order_id in (select id from paid)`,
  `select greatest(b.cancelled_at, ${decidedSince('b.cancelled_by_refund', 'b.cancelled_at')}), 'booking', json_build_object('line_id', line_id, 'kind', kind,
          'status', 'cancelled', 'refund_id', b.cancelled_by_refund)
   from bookings b
   where order_id in (select id from paid) and b.cancelled_at is not null`,
  `select greatest(l.created_at, ${decidedSince('l.refund_id', 'l.created_at')}, case when l.refund_id is null then decided.at end), 'loyalty',
          json_build_object('points', l.points::text, 'refund_id', l.refund_id)
   from loyalty_entries l cross join decided
   where l.source = $1 and l.payment_id = $2`,
  `select greatest(g.issued_at, decided.at), 'gift_card', json_build_object('line_id', line_id, 'unit', unit,
          'amount', amount::text, 'currency', currency, 'status', status, 'refund_id', stopped_by_refund)
   from gift_cards g cross join decided where order_id in (select id from paid)`,
  `select greatest(p.issued_at, decided.at), 'package', json_build_object('line_id', line_id, 'unit', unit,
          'status', status, 'refund_id', stopped_by_refund)
   from packages p cross join decided where order_id in (select id from paid)`,
  `select greatest(i.issued_at, ${decidedSince('i.refund_id', 'i.issued_at')}, case when i.refund_id is null then decided.at end), 'invoice',
          json_build_object('number', number::text, 'kind', kind, 'amount', amount::text, 'currency', currency)
   from invoices i cross join decided
   where i.order_id in (select id from paid)
     and (i.refund_id is null or exists (select from refunded r where r.refund_id = i.refund_id))`,
  `select greatest(max(posted_at), ${decidedSince('max(ledger_entries.refund_id)', 'max(ledger_entries.posted_at)')},
                   case when max(refund_id) is null then max(decided.at) end,
                   case when source_event_id like 'dispute%' then
                     (select min(t.at) from state_transitions t
                      where t.machine = 'dispute' and t.source = $1 and t.payment_id = $2 and t.at >= max(posted_at)) end), 'posting',
          json_build_object('key', source_event_id, 'currency', currency,
            'lines', string_agg(side || ' ' || account || ' ' || amount, ', ' order by side desc, account))
   from ledger_entries cross join decided
   where source = $1 and payment_id = $2 group by source_event_id, currency`,
  `select coalesce(done_at, last_attempt_at, planned_at), 'told', json_build_object('consumer', consumer, 'target', target,
          'event_type', event_type, 'status', status, 'attempts', attempts, 'last_error', last_error)
   from consumer_deliveries where source = $1 and payment_id = $2`,
  `select since, 'dead_letter', json_build_object('kind', kind, 'last_error', last_error)
   from dead_letters where source = $1 and payment_id = $2`,
  `select closed_at, 'dead_letter_closed', json_build_object('kind', kind, 'status', status,
          'action', decision->>'action', 'by', decision->>'by', 'note', decision->>'note')
   from dead_letters where source = $1 and payment_id = $2 and closed_at is not null`,
];

/** A person reads this; a payment with more than this many entries is a flood, and its beginning tells enough. */
const MOST_ROWS = 2_000;

const READ = `
  with ${DECIDED}
  select t.at, t.what, t.data
  from (${PARTS.map((part, n) => `select at, what, data, ${n} as part from (${part}) as p (at, what, data)`).join(' union all ')}) as t
  order by t.at, t.part limit ${MOST_ROWS}`;

/** Everything that is known to have happened to a payment, in order; empty where nobody ever spoke of it. */
export async function readTimeline(db: Db, source: string, paymentId: string): Promise<readonly TimelineRow[]> {
  const { rows } = await db.query<TimelineRow>(READ, [source, paymentId]);
  return rows;
}
