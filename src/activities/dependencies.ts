import type { Pool } from '../database/pool.ts';
import type { UnfinishedWork } from '../database/unfinished-work.ts';
import type { Policies } from '../domain/policies.ts';
import type { Source } from '../gateways/admitted.ts';
import type { AlertChannel } from '../notify/alerts/alert-channel.ts';
import type { Consumer } from '../notify/consumer.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** What the activities work with; opened and closed by worker.ts. */
export interface Dependencies {
  readonly pool: Pool;
  /** By the account's name. */
  readonly sources: ReadonlyMap<string, Source>;
  readonly policies: Policies;
  readonly metrics: Metrics;
  /** How people are told that something waits for them. */
  readonly alerts: { readonly channels: readonly AlertChannel[]; readonly remindAfterMs: number };
  /** Who is told of announced events. */
  readonly consumers: readonly Consumer[];
  readonly log: Logger;
  /**
   * Has a payment's workflow look at the gateway now, and waits until it has (update-with-start by the business key). The same
   * caller asks once, however often it tries.
   */
  readonly confirmPayment: (call: {
    readonly source: string;
    readonly paymentId: string;
    readonly orderId: string | null;
    readonly caller: string;
  }) => Promise<void>;
  /** Starts work whose run is gone, as the relay would; answers the run's id, or null where one is open. */
  readonly restartUnfinished: (work: UnfinishedWork) => Promise<string | null>;
  /** Tells the relay of this process that the outbox has a new row; polling finds it too. */
  readonly wakeRelay: () => void;
}
