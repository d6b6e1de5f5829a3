import { alertsToHandOver, channelsWithWork, markAlertsHandedOver } from '../database/find-alerts.ts';
import type { AlertChannelName } from '../domain/plan-alerts.ts';
import { alertsChangedSignal } from '../workflows/messages.ts';
import { alertsStartOptions } from './start-options.ts';
import type { RelayDependencies } from './sweep-inbox.ts';

/** A run that Temporal lost, or a channel that was added, is found this late; it costs a start that finds its run there. */
const CHECK_EVERY_MS = 60_000;

/**
 * Wakes the workflow of each channel when alerts were raised or closed: one signal for all that are there, so that a flood costs few.
 * Swept from the alerts themselves and not from the outbox, where a thousand alerts would be a thousand signals to one run.
 *
 * @returns a sweep, which answers whether there may be more
 */
export function createSweepAlerts(
  channels: readonly AlertChannelName[],
): (deps: RelayDependencies) => Promise<boolean> {
  let checkedAt = Number.NEGATIVE_INFINITY;
  return async ({ pool, client, metrics, batch }) => {
    const ids = await alertsToHandOver(pool, batch);
    if (ids.length > 0) {
      await Promise.all(
        channels.map((channel) =>
          client.signalWithStart('alertPeople', { ...alertsStartOptions(channel), signal: alertsChangedSignal }),
        ),
      );
      await markAlertsHandedOver(pool, ids);
      metrics.relayHandedOver.inc({ kind: 'alerts' }, ids.length);
    }
    if (performance.now() - checkedAt > CHECK_EVERY_MS) {
      const working = await channelsWithWork(pool, channels);
      await Promise.all(working.map((channel) => client.start('alertPeople', alertsStartOptions(channel))));
      checkedAt = performance.now();
    }
    return ids.length === batch;
  };
}
