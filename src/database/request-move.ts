import { announce } from './announce.ts';
import type { MoneyMoveKind } from './money-move.ts';
import type { Tx } from './pool.ts';
import { recordTransition } from './record-transition.ts';

export interface RequestedMove {
  readonly kind: MoneyMoveKind;
  readonly id: string;
  readonly source: string;
  readonly orderId: string | null;
  readonly paymentId: string | null;
  /** The client of ours that asked. */
  readonly requestedBy: string;
}

/**
 * Records that a move of money was asked for, with the outbox row that starts its workflow; in the transaction that reserves it (E4).
 *
 * @param payload ids and amounts, as the event shows them
 * @param tellOrder the order whose next version the event is; its own unless it is not there yet
 */
export async function requestMove(
  tx: Tx,
  { kind, id, source, orderId, paymentId, requestedBy }: RequestedMove,
  payload: Readonly<Record<string, unknown>>,
  tellOrder = orderId,
): Promise<void> {
  await recordTransition(tx, {
    ...{ machine: kind, objectId: id, from: null, to: 'pending', orderId, source, paymentId },
    cause: `requested by ${requestedBy}`,
  });
  await announce(tx, tellOrder, [{ eventType: `${kind}.requested`, aggregateId: id, payload }]);
}
