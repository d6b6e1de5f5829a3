import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readAuthorizationMove, settleAuthorizationMove } from '../../src/database/authorization-move.ts';
import { decideDeadLetter } from '../../src/database/decide-dead-letter.ts';
import { giveUpMove } from '../../src/database/give-up-move.ts';
import { readMoneyMove } from '../../src/database/money-move.ts';
import { inTransaction } from '../../src/database/pool.ts';
import {
  reserveAuthorizationMove,
  type AuthorizationMoveReservation,
} from '../../src/database/reserve-authorization-move.ts';
import type { AuthorizationMoveKind } from '../../src/domain/authorization-moves.ts';
import { deadLetterId } from '../../src/domain/keys.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { facts, look, seedOrder } from '../support/seed.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

/** An order over 10,000 and its payment of the same name, authorised. */
async function authorized(name: string): Promise<string> {
  await seedOrder(db.pool, { id: `ord_${name}` });
  await look(db.pool, shown(name, { status: 'authorized' }));
  return `pay_${name}`;
}

/** Only its own row can hold off whoever asks at the same time. */
async function withoutOrder(name: string): Promise<string> {
  await look(db.pool, shown(name, { orderId: null, status: 'authorized' }));
  return `pay_${name}`;
}

const shown = (name: string, more: Partial<ReturnType<typeof facts>>) =>
  facts({ paymentId: `pay_${name}`, orderId: `ord_${name}`, ...more });

const ask = (kind: AuthorizationMoveKind, paymentId: string, amount: bigint | null = null) =>
  inTransaction(db.pool, (tx) =>
    reserveAuthorizationMove(tx, { kind, source: 'sim', paymentId, amount, requestedBy: 'shop' }),
  );

async function rows<T extends object>(sql: string, ...values: unknown[]): Promise<T[]> {
  return (await db.pool.query<T>(sql, values)).rows;
}

async function statusOf(kind: AuthorizationMoveKind, paymentId: string) {
  return (await readMoneyMove(db.pool, kind, `sim:${paymentId}`))?.status;
}

describe('a reservation', () => {
  it('stands once with the row that starts its workflow and its first transition', async () => {
    const paymentId = await authorized('once');
    expect(await ask('capture', paymentId, 4_000n)).toEqual({ result: 'reserved', id: `sim:${paymentId}` });
    expect(await ask('capture', paymentId)).toEqual({ result: 'exists', id: `sim:${paymentId}` });
    expect(await ask('void', paymentId)).toEqual({ result: 'opposite_exists' });
    expect(await rows(`select event_type, payload from outbox where aggregate_id = $1`, `sim:${paymentId}`)).toEqual([
      {
        event_type: 'capture.requested',
        payload: { order_id: 'ord_once', source: 'sim', payment_id: paymentId, amount: '4000', currency: 'EUR' },
      },
    ]);
    expect(await rows(`select from_status, to_status, cause from state_transitions where machine = 'capture'`)).toEqual(
      [{ from_status: null, to_status: 'pending', cause: 'requested by shop' }],
    );
  });

  it('is refused for what is not there, not authorised, has no amount, or is too much, and leaves nothing', async () => {
    await seedOrder(db.pool, { id: 'ord_none' });
    await look(db.pool, shown('none', { status: 'pending' }));
    await look(db.pool, facts({ paymentId: 'pay_bare', orderId: null, status: 'authorized', amount: null }));
    const paymentId = await authorized('much');
    const answers: AuthorizationMoveReservation[] = [
      await ask('capture', 'pay_nobody'),
      await ask('capture', 'pay_none'),
      await ask('void', 'pay_none'),
      await ask('capture', 'pay_bare'),
      await ask('capture', paymentId, 10_001n),
    ];
    expect(answers).toEqual([
      { result: 'payment_not_found' },
      { result: 'not_authorized', status: 'pending' },
      { result: 'not_authorized', status: 'pending' },
      { result: 'not_authorized', status: 'authorized' },
      { result: 'exceeds_authorized', authorized: 10_000n, currency: 'EUR' },
    ]);
    expect(await rows(`select 1 from captures where payment_id in ('pay_none', 'pay_bare', 'pay_much')`)).toEqual([]);
  });

  it('of both kinds at once is one, whichever is first', async () => {
    for (let n = 0; n < 10; n += 1) {
      const paymentId = await (n % 2 === 0 ? authorized : withoutOrder)(`both_${n}`);
      const [capture, release] = await Promise.all([ask('capture', paymentId), ask('void', paymentId)]);
      expect([capture.result, release.result].sort()).toEqual(['opposite_exists', 'reserved']);
    }
  });

  it('that twenty ask for at once is one', async () => {
    const paymentId = await withoutOrder('twenty');
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask('capture', paymentId)));
    expect(answers.filter(({ result }) => result === 'reserved')).toHaveLength(1);
    expect(answers.filter(({ result }) => result === 'exists')).toHaveLength(19);
  });

  it('of a payment that is matched with its order just then is asked for again', async () => {
    await look(db.pool, facts({ paymentId: 'pay_matched', orderId: null, status: 'authorized' }));
    const tx = await db.pool.connect();
    try {
      await tx.query('begin');
      await tx.query(`update payments set order_id = 'ord_matched' where payment_id = 'pay_matched'`);
      const asking = ask('capture', 'pay_matched');
      await eventually('somebody waits for the payment', async () => {
        const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
        return (await rows(waiting)).length > 0;
      });
      await tx.query('commit');
      expect(await asking).toEqual({ result: 'changed_meanwhile' });
    } finally {
      tx.release();
    }
    expect((await ask('capture', 'pay_matched')).result).toBe('reserved');
  });
});

describe('a capture and a void follow their payment, in the transaction that applies it,', () => {
  it.each([
    ['capture', 'captured', 'succeeded', null],
    ['capture', 'expired', 'failed', 'payment_expired'],
    ['capture', 'failed', 'failed', 'payment_failed'],
    ['void', 'expired', 'succeeded', null],
    ['void', 'failed', 'succeeded', null],
    ['void', 'captured', 'failed', 'already_captured'],
  ] as const)('a %s when it is %s: %s', async (kind, status, to, failureCode) => {
    const name = `${kind}_${status}`;
    const paymentId = await authorized(name);
    await ask(kind, paymentId);
    const applied = await look(db.pool, shown(name, { status }));
    expect(applied.changedMoves).toEqual([`${kind}:sim:${paymentId}`]);
    expect(await readMoneyMove(db.pool, kind, `sim:${paymentId}`)).toMatchObject({ status: to, failureCode });
    expect((await look(db.pool, shown(name, { status }))).changedMoves).toEqual([]);
  });

  it('and one in doubt comes right with it: its dead letter is closed as recovered', async () => {
    const paymentId = await authorized('doubt');
    await ask('capture', paymentId);
    const move = await readMoneyMove(db.pool, 'capture', `sim:${paymentId}`);
    if (move === null) throw new Error('no capture');
    await giveUpMove(db.pool, move, 'unknown', { code: null, message: 'The gateway was silent.' });
    const letter = deadLetterId('outcome_unknown', `capture:sim:${paymentId}`);
    expect(await rows('select status from dead_letters where id = $1', letter)).toEqual([{ status: 'open' }]);
    await look(db.pool, shown('doubt', {}));
    expect(await statusOf('capture', paymentId)).toBe('succeeded');
    expect(await rows('select status from dead_letters where id = $1', letter)).toEqual([{ status: 'recovered' }]);
  });

  it('also where the payment had ended before they were looked at', async () => {
    const paymentId = await authorized('behind');
    await ask('void', paymentId);
    await db.pool.query(`update payments set status = 'expired' where payment_id = $1`, [paymentId]);
    const move = await readAuthorizationMove(db.pool, 'void', `sim:${paymentId}`);
    if (move === null) throw new Error('no void');
    await settleAuthorizationMove(db.pool, move, 'test');
    expect(await statusOf('void', paymentId)).toBe('succeeded');
  });
});

describe('a decision about a capture in doubt', () => {
  async function inDoubt(name: string, end: 'unknown' | 'rejected'): Promise<string> {
    const paymentId = await authorized(name);
    await ask('capture', paymentId);
    const move = await readMoneyMove(db.pool, 'capture', `sim:${paymentId}`);
    if (move === null) throw new Error('no capture');
    await giveUpMove(db.pool, move, end, { code: 'code', message: 'message' });
    return paymentId;
  }

  const decide = (paymentId: string, action: 'retry' | 'resolve' | 'give_up', outcome: 'succeeded' | 'failed' | null) =>
    decideDeadLetter(
      db.pool,
      {
        deadLetterId: deadLetterId('outcome_unknown', `capture:sim:${paymentId}`),
        ...{ action, outcome, note: 'why', by: 'ops', gatewayId: outcome === null ? null : 'seen' },
      },
      DEFAULT_POLICIES,
    );

  it('that was seen to have failed frees the payment for a void', async () => {
    const paymentId = await inDoubt('seen_failed', 'unknown');
    expect(await ask('void', paymentId)).toEqual({ result: 'opposite_exists' });
    expect(await decide(paymentId, 'resolve', 'failed')).toEqual({ result: 'decided' });
    expect((await ask('void', paymentId)).result).toBe('reserved');
  });

  it('that was refused orders a new attempt, and giving up frees nothing', async () => {
    const retried = await inDoubt('retried', 'rejected');
    expect(await decide(retried, 'retry', null)).toEqual({ result: 'decided' });
    expect(await statusOf('capture', retried)).toBe('pending');
    const left = await inDoubt('left', 'rejected');
    expect(await decide(left, 'give_up', null)).toEqual({ result: 'decided' });
    expect(await statusOf('capture', left)).toBe('needs_review');
    expect(await ask('void', left)).toEqual({ result: 'opposite_exists' });
  });
});
