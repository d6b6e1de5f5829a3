import type { DeliveryState } from '../database/delivery-key.ts';
import { planDeliveries as plan } from '../database/plan-deliveries.ts';
import type { ConsumerRetry } from '../notify/consumer.ts';
import type { Dependencies } from './dependencies.ts';

export interface PlannedDelivery extends DeliveryState {
  readonly consumer: string;
  readonly target: string;
  readonly retry: ConsumerRetry;
}

export interface PlannedEvent {
  readonly eventType: string;
  readonly orderId: string | null;
  readonly deliveries: readonly PlannedDelivery[];
}

/** A consumer that this worker does not know: another version of the program, which is being replaced, or came too early. */
export const UNKNOWN_CONSUMER: ConsumerRetry = {
  initialIntervalMs: 10_000,
  // Replacing all workers takes minutes; a setting that was taken away by mistake is found within a day.
  maximumIntervalMs: 3_600_000,
  maximumAttempts: 40,
  timeoutMs: 5_000,
};

/** Who is told of an event of ours, how far that is, and how each of them is to be tried. Null where there is no such event. */
export function createPlanDeliveries(deps: Dependencies) {
  return async function planDeliveries(outboxId: string): Promise<PlannedEvent | null> {
    const planned = await plan(deps.pool, outboxId, deps.consumers);
    if (planned === null) return null;
    const retryOf = (name: string) =>
      deps.consumers.find((consumer) => consumer.name === name)?.retry ?? UNKNOWN_CONSUMER;
    return {
      ...planned,
      deliveries: planned.deliveries.map((delivery) => ({ ...delivery, retry: retryOf(delivery.consumer) })),
    };
  };
}
