import { decidedBy } from '../domain/by-person.ts';
import { deadLetterChoices, type DeadLetterChoice, type DeadLetterKind } from '../domain/dead-letter-choices.ts';
import { deadLetterId } from '../domain/keys.ts';
import type { Policies } from '../domain/policies.ts';
import { announce } from './announce.ts';
import { decideDelivery } from './decide-delivery.ts';
import { decideHeldEvent } from './decide-held-event.ts';
import { decideHeldPayment } from './decide-held-payment.ts';
import { decideMoneyMove } from './decide-money-move.ts';
import { lockOrder, type LockedOrder } from './lock-order.ts';
import { lockPayment, type LockedPayment } from './lock-payment.ts';
import { inTransaction, type Pool, type Tx } from './pool.ts';
import { recordTransition } from './record-transition.ts';
import { releaseUnsentRefunds } from './release-unsent-refunds.ts';

/** What a person decided about a dead letter. */
export interface Decision {
  readonly deadLetterId: string;
  readonly action: DeadLetterChoice;
  /** Why. */
  readonly note: string;
  /** With `resolve`: what was seen at the gateway. */
  readonly outcome: 'succeeded' | 'failed' | null;
  /** With `resolve`: the gateway's object that was seen. */
  readonly gatewayId: string | null;
  /** Who: an API client, or whoever sent the update. */
  readonly by: string;
}

export type DecisionResult =
  | { readonly result: 'decided' }
  | { readonly result: 'not_found' | 'already_decided' }
  /** The row does not offer it, or it cannot be done; a sentence says what to do. */
  | { readonly result: 'not_possible'; readonly reason: string };

/** The dead letter that is decided, with everything it concerns under lock. */
export interface DecidedRow {
  readonly id: string;
  readonly kind: DeadLetterKind;
  readonly source: string | null;
  readonly eventId: string | null;
  readonly paymentId: string | null;
  readonly refundId: string | null;
  readonly workflowId: string | null;
  readonly order: LockedOrder | null;
  readonly payment: LockedPayment | null;
}

/** Thrown inside the transaction so that nothing of it stays. */
class NotPossible extends Error {}

/** What cannot be done by this decision; the sentence says what to do instead. */
export function notPossible(reason: string): never {
  throw new NotPossible(reason);
}

/**
 * A decision is one conditional update of the row, in one transaction with what follows from it, its history (who, why),
 * and the outbox row that tells the workflow (F5). HTTP, the command line and other services all come through here: of two
 * at once one wins, also when the workflow's history is long gone.
 */
export async function decideDeadLetter(pool: Pool, decision: Decision, policies: Policies): Promise<DecisionResult> {
  try {
    return await inTransaction(pool, (tx) => decide(tx, decision, policies));
  } catch (error) {
    if (error instanceof NotPossible) return { result: 'not_possible', reason: error.message };
    throw error;
  }
}

async function decide(tx: Tx, decision: Decision, policies: Policies): Promise<DecisionResult> {
  const { rows } = await tx.query<Omit<DecidedRow, 'order' | 'payment'> & { orderId: string | null; status: string }>(
    `select id, kind, status, source, event_id as "eventId", order_id as "orderId", payment_id as "paymentId",
            refund_id as "refundId", workflow_id as "workflowId"
     from dead_letters where id = $1`,
    [decision.deadLetterId],
  );
  const found = rows[0];
  if (found === undefined) return { result: 'not_found' };
  if (found.status !== 'open') return { result: 'already_decided' };
  // The order first, then the payment: the one order of locks.
  const order = found.orderId === null ? null : await lockOrder(tx, found.orderId);
  const payment =
    found.source === null || found.paymentId === null ? null : await lockPayment(tx, found.source, found.paymentId);
  const choices = deadLetterChoices(found.kind, order !== null && payment?.currency === order.currency);
  if (!choices.includes(decision.action)) notPossible(`This can be decided by ${choices.join(', ')} only.`);
  const { action, note, outcome, gatewayId, by } = decision;
  const decided = await tx.query(
    `update dead_letters set status = 'decided', closed_at = now(), decision = $2 where id = $1 and status = 'open'`,
    [found.id, JSON.stringify({ action, note, outcome, gateway_id: gatewayId, by, at: new Date().toISOString() })],
  );
  if (decided.rowCount === 0) return { result: 'already_decided' };
  await recordTransition(tx, {
    ...{ machine: 'dead_letter', objectId: found.id, from: 'open', to: 'decided', cause: decidedBy(by) },
    ...{ detail: `${action}: ${note}`, orderId: found.orderId, source: found.source, paymentId: found.paymentId },
  });
  await follow(tx, { ...found, order, payment }, decision, policies);
  await announce(tx, found.orderId, [
    {
      eventType: 'dead_letter.decided',
      aggregateId: found.id,
      payload: { dead_letter_id: found.id, workflow_id: found.workflowId, action },
    },
  ]);
  return { result: 'decided' };
}

async function follow(tx: Tx, row: DecidedRow, decision: Decision, policies: Policies): Promise<void> {
  switch (row.kind) {
    case 'refund_failed':
    case 'payout_failed':
    case 'outcome_unknown':
      return decideMoneyMove(tx, row, decision, policies);
    case 'wrong_currency':
    case 'late_capture':
    case 'order_not_payable':
    case 'unmatched_payment':
    case 'unknown_at_gateway':
      return decideHeldPayment(tx, row, decision, policies);
    case 'event_unreadable':
      // A payment of which the gateway shows no amount, or another one than before, waits with all its events.
      return isOfPayment(row) ? decideHeldPayment(tx, row, decision, policies) : decideHeldEvent(tx, row, decision);
    case 'delivery_failed':
      return decideDelivery(tx, row, decision);
    case 'refunds_exceed_captured':
      return releaseUnsentRefunds(tx, row);
  }
}

function isOfPayment({ id, source, paymentId }: DecidedRow): boolean {
  return source !== null && paymentId !== null && id === deadLetterId('event_unreadable', source, paymentId);
}
