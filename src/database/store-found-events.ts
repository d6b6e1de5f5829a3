import {
  type Delivery,
  DELIVERED,
  deliveryValues,
  GATE_OF_IGNORED,
  LETTER_OF_HELD,
  newEvents,
} from './delivery-statement.ts';
import type { Db } from './pool.ts';

/**
 * What is known by now, by its webhook that has come meanwhile, is left as it is: a list is no delivery, and its bytes are
 * not compared with any.
 */
const STORE = `
  with ${DELIVERED}, ${newEvents('now()')}, bytes as (
    insert into webhook_deliveries (source, event_id, body, headers, found)
    select d.source, d.event_id, d.body, d.headers, true from delivered d join event using (source, event_id)
  ), ${GATE_OF_IGNORED}, letter as (
    ${LETTER_OF_HELD}
    order by 1
    on conflict do nothing
  )
  select event_id from event`;

/**
 * Takes in events that were found at the gateway, as if they had been delivered (H2): in one statement, with the gate row of an
 * ignored one and the dead letter of a held one. The relay hands them over.
 *
 * @param events each with another id
 * @returns the ids of those that were not known
 */
export async function storeFoundEvents(db: Db, events: readonly Delivery[]): Promise<string[]> {
  if (events.length === 0) return [];
  const { rows } = await db.query<{ event_id: string }>(STORE, deliveryValues(events));
  return rows.map((row) => row.event_id);
}
