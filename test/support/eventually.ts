import { setTimeout as delay } from 'node:timers/promises';

/** Often enough that a test loses no time, seldom enough that it takes none from what it waits for. */
const POLL_MS = 10;

/** Waits until `check` gives something, and gives it; says what was awaited when the time is over. */
export async function eventually<T>(
  what: string,
  check: () => Promise<T | null | undefined | false>,
  limitMs = 20_000,
): Promise<T> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const seen = await check();
    if (seen !== null && seen !== undefined && seen !== false) return seen;
    if (Date.now() > deadline) throw new Error(`Not within ${limitMs} ms: ${what}`);
    await delay(POLL_MS);
  }
}
