import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { openSystem, paymentEvent, type System } from '../support/system.ts';

let system: System;
beforeAll(async () => {
  system = await openSystem();
});
afterAll(() => system.close());

const letter = (id: string) => system.call('GET', `/v1/dead-letters/${id}`);
const decide = (id: string, action: string, note = 'as agreed') =>
  system.call('POST', `/v1/dead-letters/${id}/decide`, { body: { action, note } });

it('an event that is tried again in vain is before a person again, until it is given up', async () => {
  const id = 'event_unreadable:sim:evt_never';
  await system.deliver('no JSON', { id: 'evt_never' });
  expect(await decide(id, 'retry')).toMatchObject({ status: 200, body: { status: 'decided', choices: [] } });
  expect(await decide(id, 'retry')).toMatchObject({ status: 409, body: { code: 'already_decided' } });
  await system.call('POST', '/v1/reconcile', { body: { source: 'sim' } });
  const again = await eventually('it is asked about again', async () => {
    const { body } = await letter(id);
    return body.status === 'open' && body;
  });
  expect(again.last_error).toContain('read again in vain');
  expect(await decide(id, 'give_up')).toMatchObject({ status: 200 });
  await system.eventIs('evt_never', 'ignored');
});

it('an event that is tried again and can be understood by now is acted on', async () => {
  await system.order({ id: 'learnt' });
  await system.pay('pay_learnt', 'learnt');
  const body = Buffer.from(JSON.stringify(paymentEvent('pay_learnt', 'learnt')));
  const { pool } = system.db;
  await pool.query(
    `insert into webhook_events (source, event_id, event_type, state, body_sha256, last_error)
     values ('sim', 'evt_learnt', 'unreadable', 'held', sha256($1), 'unknown form')`,
    [body],
  );
  await pool.query(
    `insert into webhook_deliveries (source, event_id, body, headers) values ('sim', 'evt_learnt', $1, '{"webhook-id": "evt_learnt"}')`,
    [body],
  );
  await pool.query(
    `insert into dead_letters (id, kind, source, event_id, last_error)
     values ('event_unreadable:sim:evt_learnt', 'event_unreadable', 'sim', 'evt_learnt', 'unknown form')`,
  );
  expect(await decide('event_unreadable:sim:evt_learnt', 'retry')).toMatchObject({ status: 200 });
  await system.orderIs('learnt', { status: 'paid' });
  await system.eventIs('evt_learnt', 'processed');
});

it('one is found by its id as it is printed, and encoded, and decided with a reason only', async () => {
  const id = 'refund_failed:extra_capture%3Asim%3Apay_x';
  await system.db.pool.query(
    `insert into dead_letters (id, kind, source, last_error) values ($1, 'refund_failed', 'sim', 'x')`,
    [id],
  );
  for (const address of [id, encodeURIComponent(id)]) {
    expect((await letter(address)).body.id).toBe(id);
    expect((await decide(address, 'accept')).body.code).toBe('decision_not_possible');
    expect((await decide(address, 'retry', ' ')).body).toMatchObject({
      ...{ code: 'validation_failed', errors: [{ path: 'note', message: 'must say why' }] },
    });
  }
  await system.db.pool.query('delete from dead_letters where id = $1', [id]);
});

it('keeps every promise, by its own audit', () => system.expectCleanAudit());
