import { EVERY_TYPE } from '../domain/announcement-types.ts';
import { ONLY_TARGET, outboxEventId, WEBHOOK_CONSUMER } from '../domain/keys.ts';
import type { DeliveryState } from './delivery-key.ts';
import type { Pool } from './pool.ts';

/** Why an endpoint's delivery is skipped while it is disabled; people read it. */
const ENDPOINT_DISABLED = 'The endpoint is disabled.';

export interface DeliveryPlan {
  readonly eventType: string;
  readonly orderId: string | null;
  readonly deliveries: readonly (DeliveryState & { readonly consumer: string; readonly target: string })[];
}

interface PlannedRow extends DeliveryState {
  readonly event_type: string;
  readonly order_id: string | null;
  readonly consumer: string | null;
  readonly target: string;
}

/**
 * Who is told of an event, and how far that has come. The first plan is the plan: it writes a row for each consumer of the
 * type and for each endpoint that subscribes to it, and later ones read them, so that whoever comes later is not told of
 * what was before.
 *
 * @returns null where the outbox has no such row
 */
export async function planDeliveries(
  pool: Pool,
  outboxId: string,
  consumers: readonly { readonly name: string; readonly types: readonly string[] }[],
): Promise<DeliveryPlan | null> {
  const eventId = outboxEventId(outboxId);
  const pairs = consumers.flatMap(({ name, types }) => types.map((type) => [name, type] as const));
  await pool.query(
    `with event as (
       select event_type, payload->>'order_id' as order_id, payload->>'source' as source, payload->>'payment_id' as payment_id
       from outbox where id = $1 and not exists (select from consumer_deliveries where event_id = $2)
     ), wanted as (
       select c.name as consumer, '${ONLY_TARGET}' as target, false as disabled
       from event join unnest($3::text[], $4::text[]) as c (name, type) on c.type in (event.event_type, '${EVERY_TYPE}')
       union
       select '${WEBHOOK_CONSUMER}', p.id, p.disabled
       from event join endpoints p on p.event_types && array[event.event_type, '${EVERY_TYPE}'])
     insert into consumer_deliveries (consumer, target, event_id, event_type, order_id, source, payment_id, status, last_error)
     select consumer, target, $2, event_type, order_id, source, payment_id,
            case when disabled then 'skipped' else 'in_progress' end, case when disabled then $5 end
     from event cross join wanted
     on conflict do nothing`,
    [outboxId, eventId, pairs.map(([name]) => name), pairs.map(([, type]) => type), ENDPOINT_DISABLED],
  );
  const { rows } = await pool.query<PlannedRow>(
    `select o.event_type, o.payload->>'order_id' as order_id, d.consumer, d.target, d.status, d.attempts
     from outbox o left join consumer_deliveries d on d.event_id = $2 where o.id = $1 order by d.n`,
    [outboxId, eventId],
  );
  const [first] = rows;
  if (first === undefined) return null;
  return {
    eventType: first.event_type,
    orderId: first.order_id,
    deliveries: rows.flatMap(({ consumer, target, status, attempts }) =>
      consumer === null ? [] : [{ consumer, target, status, attempts }],
    ),
  };
}
