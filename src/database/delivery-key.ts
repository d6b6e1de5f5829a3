import { outboxEventId } from '../domain/keys.ts';

/** Which delivery: of which event (the outbox row's number), by which consumer, to which target. */
export interface DeliveryKey {
  readonly outboxId: string;
  readonly consumer: string;
  readonly target: string;
}

export type DeliveryStatus = 'in_progress' | 'done' | 'skipped' | 'dead';

/** Where a delivery stands. */
export interface DeliveryState {
  readonly status: DeliveryStatus;
  readonly attempts: number;
}

/** The primary key's columns, in the order of `THIS_DELIVERY`. */
export function deliveryKeyValues({ outboxId, consumer, target }: DeliveryKey): string[] {
  return [consumer, target, outboxEventId(outboxId)];
}

export const THIS_DELIVERY = 'consumer = $1 and target = $2 and event_id = $3';
