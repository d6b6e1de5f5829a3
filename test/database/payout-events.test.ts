import { afterAll, beforeAll, expect, it } from 'vitest';
import { findPayoutOfEvent } from '../../src/database/find-payout-of-event.ts';
import { finishPayoutEvents, readPayoutEvents } from '../../src/database/finish-payout-events.ts';
import { inTransaction } from '../../src/database/pool.ts';
import { readPayout } from '../../src/database/read-payout.ts';
import { recordPayout } from '../../src/database/record-payout.ts';
import { reservePayout } from '../../src/database/reserve-payout.ts';
import { waitForPayout } from '../../src/database/wait-for-payout.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

async function arrives(
  eventId: string,
  claimed: string,
  about: { objectId?: string; reference?: string },
): Promise<void> {
  await db.pool.query(
    `insert into webhook_events (source, event_id, event_type, subject, object_id, claimed, reference, body_sha256, state)
     values ('sim', $1, $2, 'payout', $3, $4, $5, '\\x00', 'pending')`,
    [eventId, `payout.${claimed}`, about.objectId ?? null, claimed, about.reference ?? null],
  );
}
const event = async (id: string) =>
  (await db.pool.query('select state, outcome, attempts from webhook_events where event_id = $1', [id]))
    .rows[0] as unknown;

it("an event without a reference, of a payout that nobody here made, is the gateway's own", async () => {
  await arrives('evt_own', 'paid', { objectId: 'po_theirs' });
  expect(await findPayoutOfEvent(db.pool, { source: 'sim', objectId: 'po_theirs', reference: null })).toBeNull();
  await waitForPayout(db.pool, { source: 'sim', eventId: 'evt_own', reference: null });
  expect(await event('evt_own')).toMatchObject({ state: 'ignored', outcome: "gateway's own payout" });
});

it('an event under our reference that no payout carries waits, and then a person is asked', async () => {
  const reference = 'payout:test:nobody:2026-11-30';
  await arrives('evt_lost', 'paid', { reference });
  for (let looks = 0; looks < 5; looks += 1) {
    expect(await event('evt_lost')).toMatchObject({ state: 'pending', attempts: looks });
    await waitForPayout(db.pool, { source: 'sim', eventId: 'evt_lost', reference });
  }
  expect(await event('evt_lost')).toMatchObject({ state: 'held' });
  const letters = await db.pool.query(`select kind from dead_letters where event_id = 'evt_lost' and status = 'open'`);
  expect(letters.rows).toEqual([{ kind: 'event_unreadable' }]);
});

it('an event of ours is found by reference or by the gateway, covered by what the gateway shows, and waits for more', async () => {
  const { id } = await inTransaction(db.pool, (tx) =>
    reservePayout(tx, {
      ...{ mode: 'test', source: 'sim', sellerId: 'seller_1', settlementDate: '2026-11-30', amount: 500n },
      ...{ currency: 'EUR', destination: 'acct_1', requestedBy: 'test' },
    }),
  );
  const facts = { payoutId: 'po_1', amount: 500n, currency: 'EUR', reference: `payout:${id}`, failureCode: null };
  await recordPayout(db.pool, id, { ...facts, status: 'pending' }, { cause: 'test', answered: true });
  await arrives('evt_paid', 'paid', { objectId: 'po_1' });
  await arrives('evt_failed', 'failed', { reference: `payout:${id}` });
  expect(await findPayoutOfEvent(db.pool, { source: 'sim', objectId: 'po_1', reference: null })).toBe(id);
  expect(await findPayoutOfEvent(db.pool, { source: 'sim', objectId: null, reference: `payout:${id}` })).toBe(id);
  const payout = await readPayout(db.pool, id);
  if (payout === null) throw new Error('It was reserved.');
  const events = await readPayoutEvents(db.pool, payout);
  expect(events.map(({ eventId }) => eventId)).toEqual(['evt_paid', 'evt_failed']);
  await recordPayout(db.pool, id, { ...facts, status: 'paid' }, { cause: 'test', answered: false, events });
  expect(await event('evt_paid')).toMatchObject({ state: 'processed', outcome: 'payout_recorded' });
  // A bank can send it back: the gateway does not show that yet.
  expect(await event('evt_failed')).toMatchObject({ state: 'pending', attempts: 1 });
  const again = await readPayoutEvents(db.pool, payout);
  await inTransaction(db.pool, (tx) =>
    finishPayoutEvents(tx, payout, { ...facts, status: 'failed' }, again, new Date()),
  );
  expect(await event('evt_failed')).toMatchObject({ state: 'processed' });
});
