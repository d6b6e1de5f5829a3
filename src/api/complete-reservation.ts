import { setTimeout as delay } from 'node:timers/promises';
import type { StoredAnswer } from '../database/idempotency.ts';
import { readReservation, type Reservation, reservedAnswer } from '../database/reservation.ts';
import { startRequested } from '../relay/start-requested.ts';
import type { ApiDeps } from './deps.ts';
import { within } from './within.ts';

/** What the contract gives a silent gateway, for the start of the workflow and its answer together. */
const LONGEST_WAIT_MS = 5_000;
/** A start takes some ten milliseconds. A Temporal that takes longer than this is away: waiting for its work is no use. */
const LONGEST_START_MS = 2_000;
const FIRST_POLL_MS = 25;
/** Fifty requests that wait cost two hundred small reads a second, and hold no connection between them. */
const SLOWEST_POLL_MS = 250;

/**
 * Starts at once what a request has reserved, waits a moment for the gateway's word, and answers with the truth: 201 once
 * the gateway has answered, else 202 and where it is to be seen. Safe to run twice, and beside itself: the workflow's
 * id is that of the reservation.
 */
export async function completeReservation(
  deps: Pick<ApiDeps, 'pool' | 'temporal' | 'log'>,
  reservation: string,
): Promise<StoredAnswer> {
  const deadline = Date.now() + LONGEST_WAIT_MS;
  let now = await reserved(deps, reservation);
  if (now.awaited && (await started(deps, now))) {
    for (let pause = FIRST_POLL_MS; now.awaited && Date.now() + pause < deadline;) {
      await delay(pause);
      pause = Math.min(pause * 2, SLOWEST_POLL_MS);
      now = await reserved(deps, reservation);
    }
  }
  return reservedAnswer(now);
}

async function reserved({ pool }: Pick<ApiDeps, 'pool'>, reservation: string): Promise<Reservation> {
  const found = await readReservation(pool, reservation);
  if (found === null) throw new Error(`What was reserved as ${reservation} is gone.`);
  return found;
}

/** Where Temporal is away the relay starts it later, and there is nothing to wait for. */
async function started(
  { temporal, log }: Pick<ApiDeps, 'temporal' | 'log'>,
  { requested }: Reservation,
): Promise<boolean> {
  const deadline = Date.now() + LONGEST_START_MS;
  try {
    await within(deadline, () => temporal.withDeadline(deadline, () => startRequested(temporal.workflow, requested)));
    return true;
  } catch (error) {
    log.warn({ err: error, event_type: requested.eventType, id: requested.aggregateId }, 'not started at once');
    return false;
  }
}
