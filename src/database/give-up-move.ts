import type { DeadLetterKind } from '../domain/dead-letter-choices.ts';
import { deadLetterId, paymentWorkflowId, payoutWorkflowId } from '../domain/keys.ts';
import { refundMayBecome } from '../domain/refund-states.ts';
import { announce } from './announce.ts';
import { noteAnswered } from './gateway-call.ts';
import { lockMoneyMove, moneyTable, moneyWorkflowId, type MoneyMove } from './money-move.ts';
import { openDeadLetter } from './open-dead-letter.ts';
import { inTransaction, type Pool, type Tx } from './pool.ts';
import { readPayout } from './read-payout.ts';
import { recordTransition } from './record-transition.ts';

/**
 * What ended the machine's own tries:
 * - `rejected`: a definite no that a human must look at (F3).
 * - `declined`: a definite no to a customer's card: the answer, and nobody's trouble.
 * - `already_refunded`: other refunds took everything; nothing is left to do (E6).
 * - `unknown`: nobody knows whether it happened, or the gateway cannot be read; a human decides while the machine goes on
 *   looking (F3).
 */
export type MoveEnd = 'rejected' | 'declined' | 'already_refunded' | 'unknown';

const STATUS = {
  rejected: 'needs_review',
  declined: 'failed',
  already_refunded: 'failed',
  unknown: 'unknown',
} as const satisfies Record<MoveEnd, MoneyMove['status']>;

/** Writes the end of the machine's tries, with the dead letter where a human is needed, in one transaction. */
export async function giveUpMove(
  pool: Pool,
  { kind, id }: Pick<MoneyMove, 'kind' | 'id'>,
  end: MoveEnd,
  details: { readonly code: string | null; readonly message: string },
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    const table = moneyTable(kind);
    const move = await lockMoneyMove(tx, kind, id);
    if (move === null) return;
    const from = move.status;
    const to = STATUS[end];
    if (from !== to && !refundMayBecome(from, to)) return;
    await tx.query(
      `update ${table} set status = $2, failure_code = $3, last_error = $4, updated_at = now() where id = $1`,
      [id, to, end === 'unknown' ? null : details.code, details.message],
    );
    if (end !== 'unknown' && move.reference !== null) await noteAnswered(tx, move.reference);
    if (from !== to) {
      await recordTransition(tx, {
        ...{ machine: kind, objectId: id, from, to, detail: details.message },
        cause: moneyWorkflowId(kind, id),
        ...{ orderId: move.orderId, source: move.source, paymentId: move.paymentId },
      });
    }
    if (end === 'rejected' || end === 'unknown') await askHuman(tx, move, end, details.message);
    if (from !== to && end === 'rejected') await announceFailure(tx, move);
  });
}

/** The dead letter of a move is one row per kind of trouble. */
export function moveDeadLetterId(kind: DeadLetterKind, move: Pick<MoneyMove, 'kind' | 'id'>): string {
  return deadLetterId(kind, move.kind === 'refund' ? move.id : moneyWorkflowId(move.kind, move.id));
}

async function askHuman(tx: Tx, move: MoneyMove, end: 'rejected' | 'unknown', message: string): Promise<void> {
  const kind =
    end === 'rejected' && move.kind === 'refund'
      ? 'refund_failed'
      : end === 'rejected' && move.kind === 'payout'
        ? 'payout_failed'
        : 'outcome_unknown';
  await openDeadLetter(tx, {
    ...{ id: moveDeadLetterId(kind, move), kind, source: move.source, lastError: message },
    ...{ orderId: move.orderId, paymentId: move.paymentId, amount: move.amount, currency: move.currency },
    refundId: move.kind === 'refund' ? move.id : null,
    payoutId: move.kind === 'payout' ? move.id : null,
    workflowId: moneyWorkflowId(move.kind, move.id),
    extraCapture: move.kind === 'refund' && move.id.startsWith('extra_capture:'),
  });
}

async function announceFailure(tx: Tx, move: MoneyMove): Promise<void> {
  const { source, orderId, paymentId } = move;
  const money = { amount: move.amount.toString(), currency: move.currency };
  if (move.kind === 'payout') {
    const sellerId = (await readPayout(tx, move.id))?.sellerId;
    const payload = { source, payout_id: move.id, seller_id: sellerId, ...money };
    await announce(tx, null, [{ eventType: 'payout.failed', aggregateId: payoutWorkflowId(move.id), payload }]);
  }
  if (move.kind === 'refund') {
    const aggregate = orderId === null ? { aggregateId: paymentWorkflowId(source, paymentId ?? '') } : {};
    const payload = { order_id: orderId, source, payment_id: paymentId, refund_id: move.id, ...money };
    await announce(tx, orderId, [{ eventType: 'refund.failed', ...aggregate, payload }]);
  }
}
