import { setTimeout as delay } from 'node:timers/promises';
import { SHUTDOWN_TIMES } from '../domain/shutdown-times.ts';
import type { Keeper } from './keep-running.ts';
import type { Part } from './start-steps.ts';

/**
 * Ends all parts, who uses something before what it uses: the API, whose requests wait for the worker; the worker; and what both
 * of them needed. Resolves when nothing is left of them.
 *
 * @param headStart how long the API may take before the worker is asked as well, in milliseconds
 */
export async function endParts(
  parts: Partial<Record<Part, Pick<Keeper, 'stop'>>>,
  headStart: number = SHUTDOWN_TIMES.stack.headStart,
): Promise<void> {
  const api = parts.api?.stop();
  await Promise.race([api, delay(headStart, undefined, { ref: false })]);
  await Promise.all([api, parts.worker?.stop()]);
  await Promise.all([parts.simulator?.stop(), parts.temporal?.stop(), parts.postgres?.stop()]);
}
