import type { Pool } from 'pg';
import { readAuthorizationMove, recordPlacedAuthorizationMove } from '../../src/database/authorization-move.ts';
import { decideDeadLetter } from '../../src/database/decide-dead-letter.ts';
import { giveUpMove, type MoveEnd } from '../../src/database/give-up-move.ts';
import { readMoneyMove } from '../../src/database/money-move.ts';
import { inTransaction } from '../../src/database/pool.ts';
import { reserveAuthorizationMove } from '../../src/database/reserve-authorization-move.ts';
import type { AuthorizationMoveKind } from '../../src/domain/authorization-moves.ts';
import { deadLetterId } from '../../src/domain/keys.ts';
import type { PaymentStatus } from '../../src/domain/payment-states.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import { facts, look } from './seed.ts';

/** What captures and voids of authorised payments can come to, each by the product's own transactions. */
export async function seedAuthorizations(pool: Pool, order: (id: string) => Promise<void>): Promise<void> {
  /** The gateway shows the payment `pay_{name}` of the order `ord_{name}` like this. */
  const shows = (name: string, status: PaymentStatus, amount = 10_000n) =>
    look(pool, facts({ paymentId: `pay_${name}`, orderId: `ord_${name}`, status, amount }));

  async function authorized(name: string): Promise<void> {
    await order(`ord_${name}`);
    await shows(name, 'authorized');
  }

  async function ask(kind: AuthorizationMoveKind, name: string, amount: bigint | null = null): Promise<void> {
    const request = { kind, source: 'sim', paymentId: `pay_${name}`, amount, requestedBy: 'shop' };
    const { result } = await inTransaction(pool, (tx) => reserveAuthorizationMove(tx, request));
    if (result !== 'reserved') throw new Error(`${kind} of ${name}: ${result}`);
  }

  async function place(kind: AuthorizationMoveKind, name: string): Promise<void> {
    const move = await readAuthorizationMove(pool, kind, `sim:pay_${name}`);
    if (move === null) throw new Error(`There is no ${kind} of ${name}.`);
    await recordPlacedAuthorizationMove(pool, kind, move);
  }

  async function end(kind: AuthorizationMoveKind, name: string, how: MoveEnd): Promise<void> {
    const move = await readMoneyMove(pool, kind, `sim:pay_${name}`);
    if (move === null) throw new Error(`There is no ${kind} of ${name}.`);
    await giveUpMove(pool, move, how, { code: 'code', message: 'message' });
  }

  async function resolve(kind: AuthorizationMoveKind, name: string, outcome: 'succeeded' | 'failed'): Promise<void> {
    const deadLetter = deadLetterId('outcome_unknown', `${kind}:sim:pay_${name}`);
    const decision = { action: 'resolve', outcome, note: 'seen', by: 'ops', gatewayId: null } as const;
    const { result } = await decideDeadLetter(pool, { deadLetterId: deadLetter, ...decision }, DEFAULT_POLICIES);
    if (result !== 'decided') throw new Error(`${name}: ${result}`);
  }

  const kinds = ['capture', 'void'] as const;
  for (const kind of kinds) {
    for (const state of ['asked', 'done', 'refused', 'doubt', 'overtaken', 'told']) {
      const name = `${kind}_${state}`;
      await authorized(name);
      await ask(kind, name);
      if (state === 'refused') await end(kind, name, 'declined');
      if (state === 'doubt' || state === 'told') await end(kind, name, 'unknown');
      if (state === 'told') await resolve(kind, name, 'succeeded');
      if (state === 'done') await place(kind, name);
      const [wanted, other] =
        kind === 'capture' ? (['captured', 'expired'] as const) : (['expired', 'captured'] as const);
      if (state === 'done') await shows(name, wanted);
      if (state === 'overtaken') await shows(name, other);
    }
  }
  // A part is taken; one that was refused is let go; one that was let go turns out to be captured all the same.
  await authorized('capture_part');
  await ask('capture', 'capture_part', 4_000n);
  await place('capture', 'capture_part');
  await shows('capture_part', 'captured', 4_000n);
  await ask('void', 'capture_refused');
  await place('void', 'capture_refused');
  await shows('capture_refused', 'expired');
  await authorized('void_in_vain');
  await ask('void', 'void_in_vain');
  await place('void', 'void_in_vain');
  await shows('void_in_vain', 'expired');
  await shows('void_in_vain', 'captured');
  // What the gateway refused has come about all the same.
  await shows('void_refused', 'expired');
}
