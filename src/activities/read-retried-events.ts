import { askAgainAboutEvent } from '../database/ask-again-about-event.ts';
import { findRetriedEvents } from '../database/find-retried-events.ts';
import { readEvent } from '../database/read-event.ts';
import { readmitEvent } from '../database/readmit-event.ts';
import { readAnew } from '../gateways/read-anew.ts';
import type { Dependencies } from './dependencies.ts';
import { sourceOf } from './source-of.ts';

/** Each is read whole; the next pass, minutes later, takes the next. */
const AT_ONCE = 100;
const BYTES_ARE_GONE = 'The bytes it came with are no longer kept, so that it cannot be read again: give it up.';

/**
 * Reads those events anew that could not be understood and that a person wants to be tried again: they are taken in, or come
 * before a person once more (A7). No decision leaves one with nobody looking at it.
 */
export async function readRetriedEvents(
  deps: Pick<Dependencies, 'pool' | 'policies' | 'sources' | 'wakeRelay'>,
  source: string,
): Promise<void> {
  const { pool, policies } = deps;
  for (const eventId of await findRetriedEvents(pool, source, AT_ONCE)) {
    const found = await readEvent(pool, source, eventId);
    if (found === null) continue;
    const understood = readAnew(policies, sourceOf(deps, source), found);
    if (understood?.state === 'pending') {
      if (await readmitEvent(pool, source, eventId, understood)) deps.wakeRelay();
      continue;
    }
    const why = understood === null ? BYTES_ARE_GONE : `It was read again in vain: ${understood.reason ?? 'no reason'}`;
    await askAgainAboutEvent(pool, source, eventId, why);
  }
}
