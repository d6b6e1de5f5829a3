import { setTimeout as delay } from 'node:timers/promises';

/** Often enough that a test loses no time, seldom enough that it takes none from what it waits for. */
const POLL_MS = 10;

/**
 * Waits until `check` gives something, and gives it.
 *
 * @param what says what was awaited, when the time is over; as a function where that is known only then
 */
export async function eventually<T>(
  what: string | (() => string),
  check: () => T | null | undefined | false | Promise<T | null | undefined | false>,
  limitMs = 20_000,
): Promise<T> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const seen = await check();
    if (seen !== null && seen !== undefined && seen !== false) return seen;
    if (Date.now() > deadline) {
      throw new Error(`Not within ${limitMs} ms: ${typeof what === 'string' ? what : what()}`);
    }
    await delay(POLL_MS);
  }
}
