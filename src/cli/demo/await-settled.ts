import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from '../../database/pool.ts';
import { isDatabaseUnavailable } from '../../database/postgres-errors.ts';
import { readStormCounts, type StormCounts, type StormIds } from '../../database/read-storm.ts';
import { CommandError, EXIT } from '../command-error.ts';
import type { GatewayControls, GatewayState } from './gateway-controls.ts';

export interface Settled {
  readonly counts: StormCounts;
  readonly gateway: GatewayState;
}

/**
 * A refund whose answer was lost is looked for after 5 s and 10 s; an activity that died with its worker is begun anew
 * after 45 s, and may lose its answer again.
 */
const LONGEST_STANDSTILL_MS = 180_000;
const POLL_MS = 500;

/**
 * Waits until nothing of the storm is under way: every payment decided, every refund over, every webhook acknowledged.
 *
 * @throws CommandError that says what is still open, when nothing moved for three minutes
 */
export async function awaitSettled(
  pool: Pool,
  gateway: GatewayControls,
  ids: StormIds,
  expectedRefunds: number,
  onProgress: (done: number) => void,
): Promise<Settled> {
  let best = '';
  let moved = Date.now();
  for (;;) {
    const counts = await countsOrNull(pool, ids);
    if (counts !== null) {
      const state = await gateway.state();
      const onTheWay = state.pending.length;
      onProgress(Number(counts.decidedPayments + counts.finalRefunds));
      const open = whatIsOpen(counts, onTheWay, ids.paymentIds.length, expectedRefunds);
      if (open.length === 0) return { counts, gateway: state };
      if (open.join() !== best) moved = Date.now();
      best = open.join();
      if (Date.now() - moved > LONGEST_STANDSTILL_MS) {
        throw new CommandError(
          `The storm does not settle: nothing has moved for ${LONGEST_STANDSTILL_MS / 1_000} s, and still open are ${open.join(', ')}. See npx paidonce dead-letters list, npx paidonce events list --state pending, and the logs.`,
          EXIT.no,
        );
      }
    }
    await delay(POLL_MS);
  }
}

function whatIsOpen(counts: StormCounts, onTheWay: number, payments: number, refunds: number): string[] {
  const undecided = payments - Number(counts.decidedPayments);
  const missing = refunds - Number(counts.extraCaptures);
  const underWay = Number(counts.extraCaptures - counts.finalRefunds);
  return [
    [undecided, 'payments to be decided'],
    [Number(counts.pendingEvents), 'events to be processed'],
    [missing, 'refunds of second payments to be begun'],
    [underWay, 'refunds to be completed'],
    [onTheWay, 'webhooks on their way'],
  ].flatMap(([n, what]) => (Number(n) > 0 ? [`${String(n)} ${String(what)}`] : []));
}

/** PostgreSQL may be killed under the demo, too: it comes back. */
async function countsOrNull(pool: Pool, ids: StormIds): Promise<StormCounts | null> {
  try {
    return await readStormCounts(pool, ids);
  } catch (error) {
    if (isDatabaseUnavailable(error)) return null;
    throw error;
  }
}
