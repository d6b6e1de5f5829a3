import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createReapIdempotencyKeys } from '../../src/activities/reap-idempotency-keys.ts';
import { claimKey, keepReservation, storeAnswer, type StoredAnswer } from '../../src/database/idempotency.ts';
import { moneyTable, type MoneyMoveKind, type MoneyStatus } from '../../src/database/money-move.ts';
import { inTransaction, type Tx } from '../../src/database/pool.ts';
import { readReservation, reservedAnswer } from '../../src/database/reservation.ts';
import { reserveAuthorizationMove } from '../../src/database/reserve-authorization-move.ts';
import { reserveCharge } from '../../src/database/reserve-charge.ts';
import { reserveCheckout } from '../../src/database/reserve-checkout.ts';
import { reservePayout } from '../../src/database/reserve-payout.ts';
import { reserveRefund } from '../../src/database/reserve-refund.ts';
import { reserveTopUp } from '../../src/database/reserve-top-up.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { facts, look, seedEvent, seedOrder } from '../support/seed.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await seedOrder(db.pool, { id: 'ord_1' });
  await seedOrder(db.pool, { id: 'ord_open' });
  await seedEvent(db.pool, { id: 'evt_1', paymentId: 'pay_1', orderId: 'ord_1' });
  await look(db.pool, facts({ paymentId: 'pay_1' }));
});
afterAll(() => db.drop());

const requestedBy = 'shop';
const money = { amount: 100n, currency: 'EUR', source: 'sim' };
const card = { ...money, customerId: 'cus_1', paymentMethod: 'pm_1', requestedBy };

/** A payment that waits for being captured. */
async function authorized(tx: Tx, paymentId: string): Promise<void> {
  await tx.query(
    `insert into payments (source, payment_id, order_id, status, amount, currency) values ('sim', $1, 'ord_open', 'authorized', 100, 'EUR')`,
    [paymentId],
  );
}

/** Reserves one of the kind under a name, and answers its workflow's id. */
async function reserve(kind: MoneyMoveKind, name: string): Promise<string> {
  return inTransaction(db.pool, async (tx) => {
    switch (kind) {
      case 'refund':
        await reserveRefund(tx, { ...money, id: name, paymentId: 'pay_1', reason: null, requestedBy });
        return `refund:${name}`;
      case 'payout': {
        const destination = 'acct_1';
        const settlementDate = '2026-11-30';
        await reservePayout(tx, { ...money, mode: 'live', sellerId: name, settlementDate, destination, requestedBy });
        return `payout:${name}:${settlementDate}`;
      }
      case 'charge':
        await reserveCharge(tx, { ...card, id: name, orderId: 'ord_open' });
        return `charge:${name}`;
      case 'top_up':
        await reserveTopUp(tx, { ...card, id: name, walletId: `wal_${name}` });
        return `top_up:${name}`;
      case 'capture':
      case 'void':
        await authorized(tx, name);
        await reserveAuthorizationMove(tx, { kind, source: 'sim', paymentId: name, amount: null, requestedBy });
        return `${kind}:sim:${name}`;
    }
  });
}

async function set(
  kind: MoneyMoveKind,
  reservation: string,
  status: MoneyStatus,
  gatewayId: string | null,
): Promise<void> {
  if (kind === 'capture' || kind === 'void') {
    const placed = `status = $2, placed_at = case when $3::text is not null then now() end`;
    await db.pool.query(`update ${moneyTable(kind)} set ${placed} where reference = $1`, [
      ...[reservation, status, gatewayId],
    ]);
    return;
  }
  const column = kind === 'refund' ? 'gateway_refund_id' : kind === 'payout' ? 'gateway_payout_id' : 'payment_id';
  await db.pool.query(`update ${moneyTable(kind)} set status = $2, ${column} = $3 where id = $1`, [
    ...[reservation.slice(reservation.indexOf(':') + 1), status, gatewayId],
  ]);
}

async function answerOf(reservation: string): Promise<StoredAnswer & { readonly awaited: boolean }> {
  const found = await readReservation(db.pool, reservation);
  if (found === null) throw new Error(`nothing is reserved as ${reservation}`);
  return { ...reservedAnswer(found), awaited: found.awaited };
}

const KINDS: readonly MoneyMoveKind[] = ['refund', 'payout', 'charge', 'top_up', 'capture', 'void'];

describe.each(KINDS)('the answer about a reserved %s', (kind) => {
  it('is 202 until the gateway has answered, 201 from then on, and 202 where a person must look', async () => {
    const reservation = await reserve(kind, `states_${kind}`);
    const soonOver = kind !== 'refund' && kind !== 'payout';
    const states = [
      ['pending', null, 202, true],
      ['pending', 'gw_1', 201, soonOver],
      ['succeeded', 'gw_1', 201, false],
      ['failed', 'gw_1', 201, false],
      ['failed', null, 201, false],
      ['unknown', null, 202, false],
      ['needs_review', null, 202, false],
      ['needs_review', 'gw_1', 202, false],
    ] as const;
    for (const [status, gatewayId, code, awaited] of states) {
      await set(kind, reservation, status, gatewayId && `${gatewayId}_${kind}`);
      const answer = await answerOf(reservation);
      expect([status, gatewayId, answer.status, answer.awaited]).toEqual([status, gatewayId, code, awaited]);
      expect(JSON.parse(answer.body)).toMatchObject({ status, workflow_id: reservation });
      expect(answer.headers['retry-after'] === undefined).toBe(code === 201);
      expect(answer.headers['location']).toMatch(/^\/v1\/([a-z-]+\/[^/]+|payments\/sim\/[^/]+\/(capture|void))$/);
    }
  });

  it('names what starts its workflow, as its outbox row does', async () => {
    const reservation = await reserve(kind, `starts_${kind}`);
    const found = await readReservation(db.pool, reservation);
    const { rows } = await db.pool.query<{
      event_type: string;
      aggregate_id: string;
      payload: Record<string, unknown>;
    }>('select event_type, aggregate_id, payload from outbox where event_type = $1 and aggregate_id = $2', [
      `${kind}.requested`,
      found?.requested.aggregateId,
    ]);
    expect(rows).toHaveLength(1);
    expect(rows[0]?.event_type).toBe(found?.requested.eventType);
    for (const field of ['source', 'payment_id', 'order_id'] as const) {
      expect(found?.requested.payload[field] ?? null).toEqual(rows[0]?.payload[field] ?? null);
    }
  });
});

describe('nothing', () => {
  it.each(['refund:rf_none', 'payout:none:2026-11-30', 'charge:', 'checkout:ord_1:7', 'order:ord_1', ''])(
    'is reserved as %j',
    async (reservation) => {
      expect(await readReservation(db.pool, reservation)).toBeNull();
    },
  );
});

describe('the job that looks after keys', () => {
  const LEASE = 60_000;
  const request = (key: string) => ({ scope: 'shop POST /v1/refunds', key, hash: Buffer.from(key) });

  async function claim(key: string, reservation: string | null): Promise<void> {
    await inTransaction(db.pool, async (tx) => {
      await claimKey(tx, request(key), LEASE);
      if (reservation !== null) await keepReservation(tx, request(key), reservation);
    });
  }

  async function endLease(key: string): Promise<void> {
    await db.pool.query('update idempotency_keys set leased_until = now() where key = $1', [key]);
  }

  async function row(key: string) {
    const { rows } = await db.pool.query(
      'select status, response_code, response_body, response_headers from idempotency_keys where key = $1',
      [key],
    );
    return rows[0] as
      { status: string; response_code: number; response_body: string; response_headers: object } | undefined;
  }

  it.each(KINDS)('completes an interrupted %s exactly as the API would', async (kind) => {
    const reservation = await reserve(kind, `reaped_${kind}`);
    await claim(`reaped_${kind}`, reservation);
    await endLease(`reaped_${kind}`);
    await set(kind, reservation, 'succeeded', `gw_reaped_${kind}`);
    expect(await reap()).toMatchObject({ completed: 1, cleared: 0, more: false });
    const { status, headers, body } = await answerOf(reservation);
    expect(await row(`reaped_${kind}`)).toEqual({
      ...{ status: 'completed', response_code: status, response_body: body, response_headers: headers },
    });
  });

  it('completes an interrupted checkout', async () => {
    const reserved = await inTransaction(db.pool, (tx) =>
      reserveCheckout(tx, { orderId: 'ord_open', source: 'sim', returnUrl: null }),
    );
    expect(reserved).toMatchObject({ n: 1 });
    await claim('checkout', 'checkout:ord_open:1');
    await endLease('checkout');
    expect(await reap()).toMatchObject({ completed: 1 });
    expect(await row('checkout')).toMatchObject({
      ...{ status: 'completed', response_code: 202 },
      response_headers: { location: '/v1/orders/ord_open/checkouts/1' },
    });
  });

  it('leaves alone what is still in its lease, and what was answered', async () => {
    const reservation = await reserve('refund', 'leased');
    await claim('leased', reservation);
    await claim('answered', reservation);
    const answer: StoredAnswer = { status: 201, headers: {}, body: '{"first":true}' };
    await storeAnswer(db.pool, request('answered'), answer);
    await endLease('answered');
    expect(await reap()).toEqual({ completed: 0, cleared: 0, forgotten: 0, more: false });
    expect(await row('leased')).toMatchObject({ status: 'in_progress' });
    expect(await row('answered')).toMatchObject({ response_body: answer.body });
  });

  it('gives a key free only where nothing stands reserved under it', async () => {
    await claim('bare', null);
    await claim('gone', 'refund:rf_that_is_not_there');
    await endLease('bare');
    await endLease('gone');
    expect(await reap()).toMatchObject({ completed: 0, cleared: 2 });
    expect([await row('bare'), await row('gone')]).toEqual([undefined, undefined]);
  });

  it('keeps an answer for 72 hours', async () => {
    const reservation = await reserve('refund', 'old');
    for (const [key, hours] of [
      ['young', 71],
      ['old', 73],
    ] as const) {
      await claim(key, reservation);
      await storeAnswer(db.pool, request(key), { status: 201, headers: {}, body: '{}' });
      await db.pool.query(
        'update idempotency_keys set completed_at = now() - make_interval(hours => $2) where key = $1',
        [...[key, hours]],
      );
    }
    expect(await reap()).toMatchObject({ forgotten: 1 });
    expect([(await row('young'))?.status, await row('old')]).toEqual(['completed', undefined]);
  });

  function reap() {
    return createReapIdempotencyKeys({ pool: db.pool, policies: DEFAULT_POLICIES })();
  }
});
