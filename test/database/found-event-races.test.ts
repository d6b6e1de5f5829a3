import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAudit } from '../../src/database/audit.ts';
import type { Delivery } from '../../src/database/delivery-statement.ts';
import { storeDelivery } from '../../src/database/store-delivery.ts';
import { storeFoundEvents } from '../../src/database/store-found-events.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import { admitted } from '../../src/gateways/admitted.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { standardSource } from '../support/engine.ts';
import { listedEntry, type ListedEntry } from '../support/listing-gateway.ts';
import { eventually } from '../support/eventually.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const [, source] = standardSource('http://127.0.0.1:1');

/** As it is delivered, or found, with these bytes. */
function delivery({ id, ...body }: ListedEntry, bytes = JSON.stringify(body)): Delivery {
  const buffer = Buffer.from(bytes);
  const headers = { 'webhook-id': id };
  const bodySha256 = createHash('sha256').update(buffer).digest();
  return {
    ...admitted(DEFAULT_POLICIES, source, buffer, headers, bodySha256),
    ...{ source: 'sim', body: buffer, bodySha256, headers: JSON.stringify(headers), remoteAddress: null },
  };
}

const rows = async (sql: string, ...values: unknown[]): Promise<unknown[]> =>
  (await database.pool.query<object>(sql, values)).rows;

/** Whoever writes to the event's row waits until all of them do: each has seen that there was none before it. */
async function inTheSameInstant(eventId: string, deliveries: readonly Delivery[]) {
  const holder = await database.pool.connect();
  try {
    await holder.query('begin');
    await holder.query(`select from webhook_events where event_id = $1 for update`, [eventId]);
    const storing = Promise.all(deliveries.map((one) => storeDelivery(database.pool, one)));
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await eventually(
      () => 'not all of them wait for the row',
      async () => (await rows(waiting)).length === deliveries.length,
    );
    await holder.query('commit');
    return await storing;
  } finally {
    holder.release();
  }
}

describe('an event that was found, and whose first webhooks come in the same instant', () => {
  it('with different bytes: one stands for it, and the other is marked and looked at again', async () => {
    const entry = listedEntry('differs');
    const { id: _, ...body } = entry;
    await storeFoundEvents(database.pool, [delivery(entry, JSON.stringify(body, null, 1))]);
    const stored = await inTheSameInstant('differs', [
      delivery(entry, JSON.stringify({ ...body, sent: 1 })),
      delivery(entry, JSON.stringify({ ...body, sent: 2 })),
    ]);
    expect(stored.filter(({ differs }) => differs)).toHaveLength(1);
    expect(stored.find(({ differs }) => differs)?.handOver).toEqual({
      paymentId: 'pay_differs',
      orderId: 'ord_differs',
    });
    expect(
      await rows(
        `select w.found, w.differs, sha256(w.body) = e.body_sha256 as stands, e.look_again_at is not null as again
         from webhook_deliveries w join webhook_events e using (source, event_id) where event_id = 'differs'
         order by 1 desc, 2`,
      ),
    ).toEqual([
      { found: true, differs: false, stands: false, again: true },
      { found: false, differs: false, stands: true, again: true },
      { found: false, differs: true, stands: false, again: true },
    ]);
  });

  it('with the same bytes: both stand for it, and nothing is looked at again', async () => {
    const entry = listedEntry('same');
    const { id: _, ...body } = entry;
    await storeFoundEvents(database.pool, [delivery(entry, JSON.stringify(body, null, 1))]);
    const stored = await inTheSameInstant('same', [delivery(entry), delivery(entry)]);
    expect(stored.map(({ differs }) => differs)).toEqual([false, false]);
    expect(await rows(`select look_again_at from webhook_events where event_id = 'same'`)).toEqual([
      { look_again_at: null },
    ]);
  });

  it('leaves nothing that the audit has to say', async () => {
    // It gives copies that race a minute to be compared.
    await rows(`update webhook_deliveries set received_at = received_at - interval '2 minutes'`);
    expect((await runAudit(database.pool)).violations).toEqual([]);
  });
});
