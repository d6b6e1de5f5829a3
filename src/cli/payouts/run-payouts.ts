import { setTimeout as delay } from 'node:timers/promises';
import type { ApiAccess } from '../ask-api.ts';
import { lookAtPayout, makePayout, type MadePayout } from './make-payout.ts';
import type { PayoutToMake } from './read-payouts.ts';

/** Enough to keep a gateway busy, few enough to leave the API's connections to others. */
const AT_ONCE = 8;
const POLL_MS = 500;

/**
 * Makes all payouts, several at a time, then waits for those that the gateway has not answered.
 *
 * @param onProgress told after each payout how many are done
 * @param waitMs how long to wait in the end
 * @returns one for each, in the order of the file
 */
export async function runPayouts(
  access: ApiAccess,
  payouts: readonly PayoutToMake[],
  options: { readonly waitMs: number; readonly onProgress: (done: number) => void },
): Promise<MadePayout[]> {
  const made: MadePayout[] = [];
  let next = 0;
  let done = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < payouts.length; at = next++) {
      const payout = payouts[at];
      if (payout === undefined) return;
      made[at] = await makePayout(access, payout);
      options.onProgress((done += 1));
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, payouts.length) }, work));
  const deadline = Date.now() + options.waitMs;
  while (made.some(({ result }) => result === 'waiting') && Date.now() + POLL_MS < deadline) {
    await delay(POLL_MS);
    for (const [at, one] of made.entries()) {
      if (one.result !== 'waiting' || one.id === null) continue;
      // One that cannot be seen just now is still what it was.
      made[at] = await lookAtPayout(access, one.payout, `/v1/payouts/${encodeURIComponent(one.id)}`).catch(() => one);
    }
  }
  return made;
}
