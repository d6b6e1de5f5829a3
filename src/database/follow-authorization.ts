import { AUTHORIZATION_MOVE_KINDS, authorizationMoveEnd } from '../domain/authorization-moves.ts';
import { authorizationMoveId, authorizationMoveWorkflowId } from '../domain/keys.ts';
import type { PaymentStatus } from '../domain/payment-states.ts';
import { noteAnswered } from './gateway-call.ts';
import { moveDeadLetterId } from './give-up-move.ts';
import { moneyTable, type MoneyStatus } from './money-move.ts';
import { recoverDeadLetters } from './open-dead-letter.ts';
import type { Tx } from './pool.ts';
import { recordTransition } from './record-transition.ts';

/**
 * A capture or a void of ours is what its payment is: it follows in the transaction that applies the payment's facts, so
 * that the API's answer and the gateway's webhook meet, whichever is first. Captured by somebody else is captured; and
 * what was void and then captured all the same was not void.
 *
 * @returns the ids of the workflows that should look again
 */
export async function followAuthorization(
  tx: Tx,
  payment: {
    readonly source: string;
    readonly paymentId: string;
    readonly orderId: string | null;
    readonly status: PaymentStatus;
    readonly cause: string;
  },
): Promise<string[]> {
  const { source, paymentId, orderId, status, cause } = payment;
  const id = authorizationMoveId(source, paymentId);
  const changed: string[] = [];
  for (const kind of AUTHORIZATION_MOVE_KINDS) {
    const end = authorizationMoveEnd(kind, status);
    if (end === null) continue;
    const { rows } = await tx.query<{ from: MoneyStatus; reference: string }>(
      `with before as (select id, status from ${moneyTable(kind)} where id = $1 for update)
       update ${moneyTable(kind)} m
       set status = $2, failure_code = $3, last_error = null, updated_at = now()
       from before where m.id = before.id and before.status <> $2
       returning before.status as "from", m.reference`,
      [id, end.status, end.failureCode],
    );
    const move = rows[0];
    if (move === undefined) continue;
    const workflowId = authorizationMoveWorkflowId(kind, id);
    await noteAnswered(tx, move.reference);
    await recordTransition(tx, {
      ...{ machine: kind, objectId: id, from: move.from, to: end.status, cause },
      ...{ orderId, source, paymentId },
    });
    await recoverDeadLetters(tx, [moveDeadLetterId('outcome_unknown', { kind, id })]);
    changed.push(workflowId);
  }
  return changed;
}
