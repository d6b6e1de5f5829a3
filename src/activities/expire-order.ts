import { expireOrder as expire, type Expiry } from '../database/expire-order.ts';
import type { Dependencies } from './dependencies.ts';

/** Lets an order expire if it is time, by the engine's clock (milliseconds since the epoch). */
export function createExpireOrder(deps: Dependencies) {
  return async function expireOrder(orderId: string, at: number): Promise<Expiry> {
    const expiry = await expire(deps.pool, { orderId, at: new Date(at), policies: deps.policies });
    deps.wakeRelay();
    return expiry;
  };
}
