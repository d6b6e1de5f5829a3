import type { WorkflowClient } from '@temporalio/client';
import { claimInbox, type UnhandedEvent } from '../database/claim-inbox.ts';
import type { Pool } from '../database/pool.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { handOver } from './hand-over.ts';
import { handOverPayout } from './hand-over-payout.ts';

export interface RelayDependencies {
  readonly pool: Pool;
  readonly client: WorkflowClient;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** The types of announced events that consumers of this process's configuration want; endpoints are asked for in PostgreSQL. */
  readonly consumerTypes?: ReadonlySet<string>;
  /** Rows at most in one claim. */
  readonly batch: number;
}

/**
 * Hands over what the API could not (A5). One signal per payment is enough, since a wake takes all that wait; the events of the
 * other payments do not wait for one that fails.
 *
 * @returns whether there may be more
 */
export async function sweepInbox(deps: RelayDependencies): Promise<boolean> {
  const events = await claimInbox(deps.pool, deps.batch);
  const failures: unknown[] = [];
  await Promise.all(
    byPayment(events).map(async ([first, ...rest]) => {
      if (first === undefined) return;
      try {
        const { paymentId } = first;
        if (paymentId === null) await handOverPayout(deps, first);
        else
          await handOver(
            deps,
            { ...first, paymentId },
            rest.map((event) => ({ ...event, paymentId })),
          );
        deps.metrics.relayHandedOver.inc({ kind: 'inbox' }, 1 + rest.length);
      } catch (error) {
        failures.push(error);
      }
    }),
  );
  // Their claims run out, and they are swept again; one error stands for all in the log.
  if (failures.length > 0) throw failures[0];
  return events.length === deps.batch;
}

function byPayment(events: readonly UnhandedEvent[]): UnhandedEvent[][] {
  const groups = new Map<string, UnhandedEvent[]>();
  for (const event of events) {
    // Each event of a payout is found its own payout.
    const key = JSON.stringify([event.source, event.paymentId ?? { payoutEvent: event.eventId }]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [event]);
    else group.push(event);
  }
  return [...groups.values()];
}
