import type { AuthorizationMoveKind } from '../domain/authorization-moves.ts';
import { followAuthorization } from './follow-authorization.ts';
import { noteAnswered } from './gateway-call.ts';
import { lockOrder } from './lock-order.ts';
import { lockPayment } from './lock-payment.ts';
import { moneyTable, type MoneyStatus } from './money-move.ts';
import { inTransaction, type Db, type Pool } from './pool.ts';

/** A capture or a void of an authorised payment. */
export interface AuthorizationMove {
  readonly id: string;
  readonly source: string;
  readonly paymentId: string;
  readonly orderId: string | null;
  /** Minor units: to be captured, or to be released. */
  readonly amount: bigint;
  readonly currency: string;
  readonly status: MoneyStatus;
  readonly reference: string;
  /** The gateway has taken the call. */
  readonly placed: boolean;
  /** The payment, as it is known here, has been captured, or has failed or expired. */
  readonly paymentEnded: boolean;
}

export async function readAuthorizationMove(
  db: Db,
  kind: AuthorizationMoveKind,
  id: string,
): Promise<AuthorizationMove | null> {
  const { rows } = await db.query<AuthorizationMove>(
    `select m.id, m.source, m.payment_id as "paymentId", m.order_id as "orderId", m.amount, m.currency, m.status, m.reference,
            m.placed_at is not null as placed, p.status in ('captured', 'failed', 'expired') as "paymentEnded"
     from ${moneyTable(kind)} m join payments p using (source, payment_id) where m.id = $1`,
    [id],
  );
  return rows[0] ?? null;
}

/** The gateway has taken the call; what the payment came to is applied by the payment's own workflow. */
export async function recordPlacedAuthorizationMove(
  pool: Pool,
  kind: AuthorizationMoveKind,
  move: AuthorizationMove,
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await tx.query(
      `update ${moneyTable(kind)} set placed_at = coalesce(placed_at, now()), updated_at = now() where id = $1`,
      [move.id],
    );
    await noteAnswered(tx, move.reference);
  });
}

/** Lets a move follow what is known of its payment; where the payment's own transaction did so before, nothing is left to do. */
export async function settleAuthorizationMove(pool: Pool, move: AuthorizationMove, cause: string): Promise<void> {
  await inTransaction(pool, async (tx) => {
    if (move.orderId !== null) await lockOrder(tx, move.orderId);
    const payment = await lockPayment(tx, move.source, move.paymentId);
    if (payment === null) return;
    const { source, paymentId } = move;
    await followAuthorization(tx, { source, paymentId, orderId: payment.orderId, status: payment.status, cause });
  });
}
