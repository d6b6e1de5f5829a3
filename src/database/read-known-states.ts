import type { AdmittedEvent } from '../domain/admit-event.ts';
import type { KnownStates } from '../domain/is-news.ts';
import type { Db } from './pool.ts';

const READ = `
  select p.status as payment, r.status as refund, d.status as dispute, d.withheld, o.status as payout,
         f.payment_id is not null and exists (
           select from webhook_events e
           where e.source = $1 and e.payment_id = f.payment_id and e.subject = f.subject
             and e.claimed is not distinct from f.claimed
             and (f.subject = 'payment' or e.object_id is not distinct from f.object_id)) as claimed
  from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) with ordinality
         as f (subject, payment_id, object_id, claimed, reference, n)
  left join payments p on p.source = $1 and p.payment_id = f.payment_id
  left join refunds r on r.source = $1 and f.subject = 'refund' and r.gateway_refund_id = f.object_id
  left join disputes d on d.source = $1 and f.subject = 'dispute' and d.dispute_id = coalesce(f.object_id, f.payment_id)
  left join lateral (
    select status from payouts
    where source = $1 and f.subject = 'payout' and (gateway_payout_id = f.object_id or reference = f.reference)
    order by (gateway_payout_id = f.object_id) desc nulls last limit 1) as o on true
  order by f.n`;

/** What is known of the things that these events of a source name, in their order; one statement for all. */
export async function readKnownStates(
  db: Db,
  source: string,
  events: readonly AdmittedEvent[],
): Promise<readonly KnownStates[]> {
  if (events.length === 0) return [];
  const { rows } = await db.query<KnownStates>(READ, [
    source,
    events.map((event) => event.subject),
    events.map((event) => event.paymentId),
    events.map((event) => event.objectId),
    events.map((event) => event.claimed),
    events.map((event) => event.reference),
  ]);
  return rows;
}
