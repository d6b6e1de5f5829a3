import {
  ActivityFailure,
  ApplicationFailure,
  condition,
  continueAsNew,
  isCancellation,
  proxyActivities,
  rootCause,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { ToldAlerts } from '../activities/send-alerts.ts';
import { parseAlertsWorkflowId } from '../domain/keys.ts';
import { ALERT_CHANNELS } from '../domain/plan-alerts.ts';
import { alertsChangedSignal } from './messages.ts';
import { ALERTS } from './retry.ts';
import { createTellPeople } from './tell-people.ts';

const activities = proxyActivities<Activities>(ALERTS);

/** A channel that took nothing in all those attempts is away, or set up wrongly; news, or this time, begins them anew. */
const AFTER_FAILURE_MS = 15 * 60_000;

/**
 * Tells people on one channel what waits for them (F5), reminds them, and says what came right by itself. One run for each channel,
 * so that none waits for another; it ends when nothing is open, and a later alert starts a fresh one.
 */
export async function alertPeople(): Promise<void> {
  const { workflowId } = workflowInfo();
  const named = parseAlertsWorkflowId(workflowId);
  const channel = ALERT_CHANNELS.find((name) => name === named);
  if (channel === undefined) {
    throw ApplicationFailure.nonRetryable(
      `The id of this run, ${workflowId}, is not alerts:{${ALERT_CHANNELS.join('|')}}: start it by that id.`,
    );
  }
  const tellPeople = createTellPeople();
  let news = 0;
  setHandler(alertsChangedSignal, () => {
    news += 1;
  });
  for (;;) {
    news = 0;
    let told: ToldAlerts | null = null;
    let lastError: string | null = null;
    try {
      told = await activities.sendAlerts(channel, Date.now());
    } catch (error) {
      if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
      lastError = rootCause(error) ?? error.message;
    }
    tellPeople({
      status: told === null ? 'failing' : told.open > 0 ? 'open' : 'quiet',
      orderId: null,
      needsHuman: false,
      details: `Alerts by ${channel}: ${told === null ? `not sent. ${lastError ?? ''}` : `${told.open} open.`}`,
    });
    if (workflowInfo().continueAsNewSuggested) await continueAsNew();
    const wait = told === null ? AFTER_FAILURE_MS : told.nextLookMs;
    if (told?.paced === true) await sleep(wait ?? 0);
    else if (wait === 0 || news > 0) continue;
    else if (wait === null) return;
    else await condition(() => news > 0, wait);
  }
}
