import { ApplicationFailure } from '@temporalio/common';
import {
  type AlertClaim,
  claimAlertChannel,
  noteAlertFailed,
  releaseAlertChannel,
} from '../database/claim-alert-channel.ts';
import { markAlertsTold } from '../database/mark-alerts-told.ts';
import { closeAgedAlerts } from '../database/raise-alert.ts';
import { readAlertWork } from '../database/read-alert-work.ts';
import { type AlertChannelName, type AlertMessage, pacedUntilAfter, planAlerts } from '../domain/plan-alerts.ts';
import type { AlertChannel } from '../notify/alerts/alert-channel.ts';
import { DeliveryError } from '../notify/delivery-error.ts';
import type { Dependencies } from './dependencies.ts';

export interface ToldAlerts {
  /** What went out; null: nothing was to be said now. */
  readonly sent: AlertMessage['type'] | null;
  /** How many are open. */
  readonly open: number;
  /** Null: nothing is open, and nothing is left to say. */
  readonly nextLookMs: number | null;
  /** News changes nothing before then. */
  readonly paced: boolean;
}

/** The channel's own limit is shorter. */
const SEND_TIMEOUT_MS = 20_000;
/** Another sender is done, or dead, soon. */
const COME_BACK_MS = 5_000;

/**
 * Says on one channel what is to be said now, at most one message, and writes it down afterwards: at least once, and one sender at a
 * time. What is said is decided anew in each attempt, so that a channel that was away gets one message about everything.
 *
 * @throws where nothing went out: Temporal comes again, and the other channels do not wait
 */
export function createSendAlerts(deps: Pick<Dependencies, 'pool' | 'alerts' | 'metrics'>) {
  const { pool, alerts } = deps;
  return async function sendAlerts(name: AlertChannelName, at: number): Promise<ToldAlerts> {
    const channel = alerts.channels.find((one) => one.name === name);
    // It was taken out of the configuration; whoever puts it back is told what is open then.
    if (channel === undefined) return { sent: null, open: 0, nextLookMs: null, paced: false };
    const claim = await claimAlertChannel(pool, name);
    if (claim === null) {
      throw ApplicationFailure.create({
        ...{ type: 'AlertChannelBusy', message: `Alerts by ${name} are being sent by another attempt.` },
        nextRetryDelay: COME_BACK_MS,
      });
    }
    try {
      return await tell(channel, claim, at);
    } catch (error) {
      if (error instanceof DeliveryError) throw await failed(claim, error);
      await releaseAlertChannel(pool, claim);
      throw error;
    }
  };

  async function tell(channel: AlertChannel, claim: AlertClaim, at: number): Promise<ToldAlerts> {
    await closeAgedAlerts(pool);
    const work = await readAlertWork(pool, channel.name);
    const { message, nextLookMs, paced } = planAlerts(work, at, alerts.remindAfterMs);
    const open = work.untold.length + work.told.length;
    if (message === null) {
      await releaseAlertChannel(pool, claim);
      return { sent: null, open, nextLookMs, paced };
    }
    await channel.send(message, AbortSignal.timeout(SEND_TIMEOUT_MS));
    const pacedUntil = pacedUntilAfter(work.pacedUntil, at);
    await markAlertsTold(pool, claim, message, { at, pacedUntil });
    return { sent: message.type, open, nextLookMs, paced };
  }

  async function failed(claim: AlertClaim, error: DeliveryError): Promise<ApplicationFailure> {
    deps.metrics.alertsFailed.inc({ channel: claim.channel });
    await noteAlertFailed(pool, claim, error.message);
    return ApplicationFailure.create({
      ...{ type: error.name, message: error.message, nonRetryable: error.final },
      ...(error.retryAfterMs === null ? {} : { nextRetryDelay: Math.max(1, error.retryAfterMs) }),
    });
  }
}
