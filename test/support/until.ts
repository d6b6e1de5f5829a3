import { setTimeout as delay } from 'node:timers/promises';

/** Waits until the condition holds; throws when it has not come true in time. */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = 15_000): Promise<void> {
  const end = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`not true within ${String(withinMs)} ms: ${condition.toString()}`);
    await delay(20);
  }
}
