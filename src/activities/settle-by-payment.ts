import { settleAuthorizationMove, type AuthorizationMove } from '../database/authorization-move.ts';
import { callerHere } from './caller-here.ts';
import type { Dependencies } from './dependencies.ts';

/** Has the payment's own workflow look at the gateway now; the capture or void follows with it, or else by what is known then. */
export async function settleByPayment(deps: Dependencies, move: AuthorizationMove): Promise<void> {
  const { source, paymentId, orderId } = move;
  await deps.confirmPayment({ source, paymentId, orderId, caller: callerHere() });
  await settleAuthorizationMove(deps.pool, move, move.reference);
}
