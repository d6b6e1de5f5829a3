import type { AnnouncedEvent, AnnouncedOrder } from '../domain/announced-event.ts';

/** One attempt to bring one event to one target. */
export interface Delivery {
  readonly event: AnnouncedEvent;
  /** An endpoint's id, or `-` for a consumer that has one target only. */
  readonly target: string;
  /** Null where the event is about no order. */
  readonly order: AnnouncedOrder | null;
  /** Aborts when the attempt's time is over. */
  readonly signal: AbortSignal;
}

/** `skipped`: there is nothing to do, and the reason (without personal data) is shown to people. */
export type DeliveryResult =
  | { readonly status: 'done'; /** What the target answered, where it speaks HTTP. */ readonly httpStatus?: number }
  | { readonly status: 'skipped'; readonly reason: string };

/** How often, and for how long, a failed attempt is repeated before a person is asked. Carried out by Temporal alone (F4). */
export interface ConsumerRetry {
  readonly initialIntervalMs: number;
  readonly maximumIntervalMs: number;
  readonly maximumAttempts: number;
  /** One attempt's own time. */
  readonly timeoutMs: number;
}

/**
 * Something that is told of what happened. A merchant adds one with a file that exports it and a line in
 * consumers/index.ts. It acts at least once, with a key onward that stays the same (`event.id`, or a name made of the
 * business), so that a receiver who dedupes sees it once (G3).
 *
 * `deliver` throws a `DeliveryError` when the target did not take it.
 */
export interface Consumer {
  /** Stands in consumer_deliveries and in processed_events; never changes. */
  readonly name: string;
  /** The event types that it is told of. The consumer of endpoints has none: each endpoint subscribes for itself. */
  readonly types: readonly string[];
  readonly retry: ConsumerRetry;
  deliver(delivery: Delivery): Promise<DeliveryResult>;
}
