import { decisionAbout } from '../domain/by-person.ts';
import { parseMoneyWorkflowId, refundWorkflowId } from '../domain/keys.ts';
import type { Policies } from '../domain/policies.ts';
import { REFUND_COLUMNS, type RefundRow, type RefundedPayment } from './apply-refunds.ts';
import { announce } from './announce.ts';
import { placeCardPayment, readCardPayment } from './card-payment.ts';
import { type Decision, type DecidedRow, notPossible } from './decide-dead-letter.ts';
import { noteAnswered } from './gateway-call.ts';
import { HOLDING_REFUNDS } from './holding-refunds.ts';
import {
  lockMoneyMove,
  MONEY_MOVE_KINDS,
  moneyTable,
  moneyWorkflowId,
  type MoneyMove,
  type MoneyMoveKind,
} from './money-move.ts';
import type { Tx } from './pool.ts';
import { allocationOf } from './record-refunds.ts';
import { recordTransition } from './record-transition.ts';
import { settlePayout } from './settle-payout.ts';
import { settleRefund } from './settle-refund.ts';
import { readPayout } from './read-payout.ts';

/** Where the gateway's object is kept that a person has seen; that of a capture or a void is the payment, known before. */
const SEEN: Readonly<Record<MoneyMoveKind, string | null>> = {
  refund: 'gateway_refund_id',
  payout: 'gateway_payout_id',
  charge: 'payment_id',
  top_up: 'payment_id',
  capture: null,
  void: null,
};

/**
 * A decision about a refund, payout, charge, top-up, capture or void.
 * - `retry`: looks first in any case; after a definite no, a new attempt with a new key (F3).
 * - `resolve`: what the person saw at the gateway is the outcome; only `failed` frees the amount (E6).
 * - `give_up`: the machine stops; nothing is freed, since nobody knows.
 */
export async function decideMoneyMove(tx: Tx, row: DecidedRow, decision: Decision, policies: Policies): Promise<void> {
  const move = await lockMove(tx, row);
  if (decision.action === 'give_up') return;
  if (decision.action === 'retry') return retry(tx, row, move);
  if (decision.outcome === null) notPossible('Say with outcome what was seen at the gateway: succeeded or failed.');
  await resolve(tx, row, move, { ...decision, outcome: decision.outcome }, policies);
}

async function lockMove(tx: Tx, row: DecidedRow): Promise<MoneyMove> {
  for (const kind of MONEY_MOVE_KINDS) {
    const id = row.workflowId === null ? null : parseMoneyWorkflowId(kind, row.workflowId);
    if (id === null) continue;
    const move = await lockMoneyMove(tx, kind, id);
    if (move === null) throw new Error(`There is no ${kind} ${id}.`);
    return move;
  }
  throw new Error(`Dead letter ${row.id} names no workflow that moves money.`);
}

async function retry(tx: Tx, row: DecidedRow, move: MoneyMove): Promise<void> {
  // Unknown: the workflow looks now, and the same key and reference hold.
  if (move.status === 'unknown') return;
  if (move.status === 'succeeded') notPossible('It has succeeded: there is nothing to try again.');
  if (move.status === 'failed') {
    if (move.kind === 'capture' || move.kind === 'void')
      notPossible('It has failed for good: end the payment otherwise.');
    if (move.kind !== 'refund' && move.kind !== 'payout') notPossible('A failed charge is tried again by a new one.');
    if (move.kind === 'refund') await reserveAgain(tx, row, move);
  }
  if (move.status === 'pending') return;
  await tx.query(
    `update ${moneyTable(move.kind)} set status = 'pending', failure_code = null, last_error = null, updated_at = now()
     where id = $1`,
    [move.id],
  );
  if (move.gatewayId !== null && (move.kind === 'refund' || move.kind === 'payout')) {
    // The gateway's failed object was the outcome of the attempt before, and absent for the one that follows.
    await tx.query(
      `update ${moneyTable(move.kind)}
       set superseded_gateway_ids = superseded_gateway_ids || $2::text, gateway_${move.kind}_id = null where id = $1`,
      [move.id, move.gatewayId],
    );
  }
  if (move.reference !== null) await noteAnswered(tx, move.reference, { repaired: true });
  // Somebody began it at the gateway; the new attempt is ours, and is looked for as such.
  else if (move.kind === 'refund')
    await tx.query('update refunds set reference = $2 where id = $1', [move.id, refundWorkflowId(move.id)]);
  await history(tx, move, 'pending', 'a person ordered a new attempt');
}

/** A failed refund holds no amount any more: what others reserved meanwhile counts against it (E6). */
async function reserveAgain(tx: Tx, row: DecidedRow, move: MoneyMove): Promise<void> {
  const { rows } = await tx.query<{ held: bigint }>(
    `select coalesce(sum(amount), 0)::bigint as held from refunds
     where source = $1 and payment_id = $2 and status in ${HOLDING_REFUNDS}`,
    [move.source, move.paymentId],
  );
  const left = (row.payment?.amount ?? 0n) - (rows[0]?.held ?? 0n);
  if (move.amount > left) notPossible('Other refunds have taken what this one would give back: give it up.');
}

async function resolve(
  tx: Tx,
  row: DecidedRow,
  move: MoneyMove,
  decision: Decision & { readonly outcome: 'succeeded' | 'failed' },
  policies: Policies,
): Promise<void> {
  const { outcome, gatewayId } = decision;
  if (move.status === outcome) return;
  if (move.status === 'succeeded')
    notPossible('The gateway says that it succeeded: only its own word takes that back.');
  if (move.status === 'failed') notPossible('It has failed: order a new attempt, or give it up.');
  const column = SEEN[move.kind];
  const charged = outcome === 'succeeded' && (move.kind === 'charge' || move.kind === 'top_up');
  if (charged && move.gatewayId === null && gatewayId === null)
    notPossible('Say with gateway_id which payment at the gateway it became, so that its money is counted.');
  await tx.query(
    `update ${moneyTable(move.kind)} set status = $2, ${column === null ? '' : `${column} = coalesce(${column}, $3),`} last_error = null,
            failure_code = case when $2 = 'failed' then coalesce(failure_code, 'resolved_as_failed') end, updated_at = now()
     where id = $1`,
    [move.id, outcome, ...(column === null ? [] : [gatewayId])],
  );
  if (move.reference !== null) await noteAnswered(tx, move.reference);
  if (charged) await haveLookedAt(tx, move, move.gatewayId ?? gatewayId ?? '');
  await history(tx, move, outcome, `seen at the gateway: ${outcome}`);
  // When the gateway refused it: `giveUpMove`.
  const failureAnnounced = move.status === 'needs_review' && move.failureCode !== null;
  if (move.kind === 'payout') {
    const payout = await readPayout(tx, move.id);
    if (payout !== null)
      await settlePayout(tx, { ...payout, status: move.status }, outcome, null, { quiet: true, failureAnnounced });
  }
  if (move.kind === 'refund') await settle(tx, row, move, { outcome, failureAnnounced }, policies);
}

/** What the card was charged for is decided by the payment itself, which its workflow looks at (E4 starts it, as it starts all else). */
async function haveLookedAt(tx: Tx, move: MoneyMove, paymentId: string): Promise<void> {
  if (move.kind !== 'charge' && move.kind !== 'top_up') return;
  const card = await readCardPayment(tx, move.kind, move.id);
  if (card !== null) await placeCardPayment(tx, move.kind, card, paymentId);
  const { source, orderId } = move;
  const payload = { source, payment_id: paymentId, order_id: orderId };
  await announce(tx, orderId, [{ eventType: 'payment.waits', aggregateId: paymentId, payload }]);
}

async function settle(
  tx: Tx,
  { payment, order }: DecidedRow,
  move: MoneyMove,
  { outcome, failureAnnounced }: { readonly outcome: 'succeeded' | 'failed'; readonly failureAnnounced: boolean },
  policies: Policies,
): Promise<void> {
  if (payment?.amount == null || payment.currency === null || move.paymentId === null) return;
  const { rows } = await tx.query<RefundRow>(`select ${REFUND_COLUMNS} from refunds where id = $1`, [move.id]);
  const refund = rows[0];
  if (refund === undefined) return;
  const refunded: RefundedPayment = {
    ...{ source: move.source, paymentId: move.paymentId, captured: payment.amount, currency: payment.currency },
    ...{ allocation: allocationOf(payment), cause: 'decision' },
    pointsPerMajorUnit: policies.loyaltyPointsPerMajorUnit,
  };
  // A person has just said that it failed: nobody needs to be asked again.
  const quiet = outcome === 'failed';
  const change = { from: move.status, failureCode: null, quiet, failureAnnounced };
  await settleRefund(tx, { payment: refunded, order, row: refund, ...change });
}

async function history(tx: Tx, move: MoneyMove, to: string, detail: string): Promise<void> {
  await recordTransition(tx, {
    ...{ machine: move.kind, objectId: move.id, from: move.status, to, detail },
    cause: decisionAbout(moneyWorkflowId(move.kind, move.id)),
    ...{ orderId: move.orderId, source: move.source, paymentId: move.paymentId },
  });
}
