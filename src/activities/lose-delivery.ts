import { loseDelivery as lose } from '../database/lose-delivery.ts';
import type { DeliveryState } from '../database/delivery-key.ts';
import type { Dependencies } from './dependencies.ts';

/** Puts a delivery whose tries are used up before a person. */
export function createLoseDelivery(deps: Dependencies) {
  return async function loseDelivery(
    outboxId: string,
    consumer: string,
    target: string,
    message: string,
  ): Promise<DeliveryState> {
    const state = await lose(deps.pool, { outboxId, consumer, target }, message);
    if (state.status === 'dead') deps.metrics.deliveries.inc({ consumer, result: 'dead' });
    return state;
  };
}
