import type { Pool } from './pool.ts';

/** Work of ours that is not over, told as the outbox row that once asked for it: whoever starts one starts the other. */
export interface UnfinishedWork {
  readonly eventType: string;
  readonly aggregateId: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Where a page begins: the kind of work, and the last one of the page before; empty where there was none. */
export interface UnfinishedPlace {
  readonly eventType: string;
  readonly after: string;
}

export interface UnfinishedPage {
  readonly work: readonly UnfinishedWork[];
  /** Null after the last page of the last kind. */
  readonly next: UnfinishedPlace | null;
}

/** What is younger is only just being started. */
const GRACE = `interval '1 minute'`;
/** Its run may be begun anew shortly before its time: no earlier, since open orders are many. */
const EXPIRES_SOON = `interval '15 minutes'`;

/** Its machine works on it, or waits for a person who has not told it to stop. */
function moving(kind: string): string {
  return `
    m.source = $1 and m.status in ('pending', 'unknown', 'needs_review') and m.reference is not null
    and m.created_at < now() - ${GRACE}
    and not exists (select from dead_letters d where d.workflow_id = '${kind}:' || m.id and d.status = 'decided'
                    and d.decision->>'action' = 'give_up')`;
}

/**
 * Each kind of work by the type of the outbox row that asks for it: a statement that answers what is not over, by a key that
 * is its own. `$1` is the source. A new kind is one entry here, and its start in src/relay/start-requested.ts.
 */
const UNFINISHED: Readonly<Record<string, string>> = {
  'payment.waits': `
    select payment_id as key, payment_id as aggregate_id,
           json_build_object('source', $1::text, 'payment_id', payment_id, 'order_id', min(order_id)) as payload
    from (
      select payment_id, order_id from payments where source = $1 and waiting_for is not null and updated_at < now() - ${GRACE}
      union all
      select payment_id, order_id from webhook_events
      where source = $1 and payment_id is not null and (state = 'pending' or look_again_at is not null)
        and received_at < now() - ${GRACE}
      union all
      -- before a person, and looked at all the same
      select d.payment_id, d.order_id from dead_letters d
      where d.source = $1 and d.status = 'open' and d.kind in ('unknown_at_gateway', 'event_unreadable')
        and exists (select from webhook_events e where e.source = d.source and e.payment_id = d.payment_id
                    and e.state = 'held' and e.next_look_at < now())) as waiting
    group by payment_id`,
  'refund.requested': `
    select m.id as key, m.id as aggregate_id,
           json_build_object('source', m.source, 'payment_id', m.payment_id, 'order_id', m.order_id) as payload
    from refunds m where ${moving('refund')}`,
  'payout.requested': `
    select m.id as key, m.id as aggregate_id, json_build_object('source', m.source) as payload
    from payouts m where ${moving('payout')}`,
  'charge.requested': `
    select m.id as key, m.id as aggregate_id, json_build_object('source', m.source, 'order_id', m.order_id) as payload
    from charges m where ${moving('charge')}`,
  'top_up.requested': `
    select m.id as key, m.id as aggregate_id, json_build_object('source', m.source) as payload
    from top_ups m where ${moving('top_up')}`,
  'capture.requested': `
    select m.id as key, m.id as aggregate_id,
           json_build_object('source', m.source, 'payment_id', m.payment_id, 'order_id', m.order_id) as payload
    from captures m where ${moving('capture')}`,
  'void.requested': `
    select m.id as key, m.id as aggregate_id,
           json_build_object('source', m.source, 'payment_id', m.payment_id, 'order_id', m.order_id) as payload
    from voids m where ${moving('void')}`,
  // An announcement need not be about a source: whichever comes first finds it.
  'delivery.unfinished': `
    select event_id as key, split_part(event_id, ':', 2) as aggregate_id,
           json_build_object('event_type', min(event_type), 'source', min(source), 'payment_id', min(payment_id), 'order_id', min(order_id)) as payload
    from consumer_deliveries
    where $1::text is not null and status = 'in_progress' and planned_at < now() - ${GRACE}
    group by event_id`,
  'checkout.requested': `
    select order_id || ':' || n as key, order_id as aggregate_id,
           json_build_object('source', source, 'order_id', order_id, 'n', n) as payload
    from checkouts
    where source = $1 and status in ('pending', 'unknown') and created_at < now() - ${GRACE}`,
  // Orders belong to no source: whichever comes first finds them.
  'order.expiry_requested': `
    select o.id as key, o.id as aggregate_id, '{}'::json as payload
    from orders o
    where $1::text is not null and o.expires_at < now() + ${EXPIRES_SOON} and o.created_at < now() - ${GRACE}
      and o.status in ('pending_payment', 'payment_pending', 'partially_paid', 'failed_final')
      -- one that a person brought back does not expire again
      and not exists (select from state_transitions t where t.machine = 'order' and t.object_id = o.id
                      and t.from_status in ('cancelled', 'expired'))`,
};
const KINDS = Object.keys(UNFINISHED);
const [FIRST = ''] = KINDS;

/**
 * A page of what is not over at a source, whether its run is open or gone.
 *
 * @param place where the page before ended; null for the first
 */
export async function readUnfinishedWork(
  pool: Pool,
  source: string,
  place: UnfinishedPlace | null,
  limit: number,
): Promise<UnfinishedPage> {
  const eventType = place?.eventType ?? FIRST;
  const kind = UNFINISHED[eventType];
  if (kind === undefined) throw new Error(`There is no kind of work ${eventType}.`);
  const { rows } = await pool.query<{ key: string; aggregate_id: string; payload: UnfinishedWork['payload'] }>(
    `select * from (${kind}) as u where key > $2 order by key limit $3`,
    [source, place?.after ?? '', limit],
  );
  const last = rows.length < limit ? undefined : rows.at(-1);
  const nextKind = KINDS[KINDS.indexOf(eventType) + 1];
  return {
    work: rows.map((row) => ({ eventType, aggregateId: row.aggregate_id, payload: row.payload })),
    next:
      last !== undefined
        ? { eventType, after: last.key }
        : nextKind === undefined
          ? null
          : { eventType: nextKind, after: '' },
  };
}
