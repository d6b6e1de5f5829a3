import { readCardPayment, type CardPaymentKind } from '../database/card-payment.ts';
import { callerHere } from './caller-here.ts';
import type { Dependencies } from './dependencies.ts';
import { readProgress, type MoneyProgress } from './money-progress.ts';

/** Has the payment's own workflow look at the gateway now, and answers what became of the charge or top-up by that. */
export function createLookAtCardPayment(deps: Dependencies) {
  return async function lookAtCardPayment(kind: CardPaymentKind, id: string): Promise<MoneyProgress> {
    const card = await readCardPayment(deps.pool, kind, id);
    if (card === null) throw new Error(`There is no ${kind} ${id}.`);
    const { source, paymentId, orderId } = card;
    if (paymentId !== null) await deps.confirmPayment({ source, paymentId, orderId, caller: callerHere() });
    return readProgress(deps.pool, kind, id);
  };
}
