import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 50;

/** Waits until the condition holds, and looks every 50 ms. Throws with `complaint` after `limitMs`. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  limitMs: number,
  complaint: () => string,
): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(complaint());
    await delay(POLL_MS);
  }
}
