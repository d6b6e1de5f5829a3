import { readEvent } from '../../database/read-event.ts';
import { countReplay, replayEvents as replay } from '../../database/replay-events.ts';
import type { ApiDeps } from '../deps.ts';
import { defineRoute, json } from '../route.ts';
import { replayBatch, replayRequest } from '../schemas/operations.ts';
import { understandAnew } from '../understand-anew.ts';
import { cursorOf, filterOf, positionOf } from './events.ts';

/** One short statement; a batch of events that are all read anew still ends within a request's time. */
const BATCH = 500;

export const replayEvents = defineRoute({
  method: 'POST',
  path: '/v1/events/replay',
  scope: 'ops:write',
  summary: 'Look at many events again, a batch at a time, oldest first; harmless however often.',
  body: replayRequest,
  answers: {
    200: { description: 'With `dry_run`: how many they are.', schema: replayBatch },
    202: { description: 'These are looked at again in a moment.', schema: replayBatch },
  },
  async handle(deps, { body }) {
    const filter = filterOf(body.filter);
    if (body.dry_run === true) return json(200, { ...(await countReplay(deps.pool, filter)), next_cursor: null });
    const { count, unread, next } = await replay(deps.pool, filter, { limit: BATCH, after: positionOf(body.cursor) });
    for (const event of unread) await readAnew(deps, event);
    if (count > 0) deps.wakeRelays();
    return json(202, { count, at: new Date(deps.now()), next_cursor: cursorOf(next) });
  },
});

async function readAnew(deps: ApiDeps, event: { readonly source: string; readonly eventId: string }): Promise<void> {
  const found = await readEvent(deps.pool, event.source, event.eventId);
  if (found !== null) await understandAnew(deps, found);
}
