import { readCheckout, recordCheckoutTrouble } from '../database/checkout.ts';
import type { Dependencies } from './dependencies.ts';

/** The retries are used up while a payment is prepared: the order stays payable, and the workflow goes on looking (F3). */
export function createLoseSightOfCheckout(deps: Dependencies) {
  return async function loseSightOfCheckout(orderId: string, n: number, message: string): Promise<void> {
    const checkout = await readCheckout(deps.pool, orderId, n);
    if (checkout === null) throw new Error(`There is no checkout ${n} of order ${orderId}.`);
    await recordCheckoutTrouble(deps.pool, checkout, { status: 'unknown', code: 'outcome_unknown', message });
  };
}
