import type { z } from 'zod';
import type { EventFilter, EventPosition } from '../../database/event-filter.ts';
import { listEvents as list } from '../../database/list-events.ts';
import { type FullEventView, readEvent } from '../../database/read-event.ts';
import { replayEvent as replay } from '../../database/replay-event.ts';
import { isStorableText } from '../../domain/cleaned-text.ts';
import { Problem } from '../../domain/problem.ts';
import { decodeCursor, encodeCursor } from '../cursor.ts';
import type { ApiDeps } from '../deps.ts';
import { defineRoute, json } from '../route.ts';
import { DEFAULT_LIMIT, listOf } from '../schemas/common.ts';
import { event, type eventChoice, eventFilter, fullEvent } from '../schemas/operations.ts';
import { understandAnew } from '../understand-anew.ts';

/** Microseconds, a source, an event's id. */
const CURSOR = [/^\d{1,18}$/, /^[a-z0-9-]{1,32}$/, /^[^\0]{1,255}$/u];

export const listEvents = defineRoute({
  method: 'GET',
  path: '/v1/events',
  scope: 'ops:read',
  summary: 'Events as they came, newest first.',
  query: eventFilter,
  answers: { 200: { description: 'A page of events.', schema: listOf(event) } },
  async handle(deps, { query }) {
    const after = positionOf(query.cursor);
    const { events, next } = await list(deps.pool, filterOf(query), { limit: query.limit ?? DEFAULT_LIMIT, after });
    return json(200, { data: events, next_cursor: cursorOf(next) });
  },
});

/** The filter as a request says it. */
export function filterOf(asked: z.output<typeof eventChoice>): EventFilter {
  return {
    source: asked.source ?? null,
    type: asked.type ?? null,
    paymentId: asked.payment_id ?? null,
    orderId: asked.order_id ?? null,
    state: asked.state ?? null,
    from: asked.from ?? null,
    to: asked.to ?? null,
  };
}

export function positionOf(cursor: string | undefined): EventPosition | null {
  if (cursor === undefined) return null;
  const [receivedAt = '', source = '', eventId = ''] = decodeCursor(cursor, CURSOR);
  return { receivedAt, source, eventId };
}

export function cursorOf(position: EventPosition | null): string | null {
  return position === null ? null : encodeCursor([position.receivedAt, position.source, position.eventId]);
}

export const getEvent = defineRoute({
  method: 'GET',
  path: '/v1/events/{source}/{event_id}',
  scope: 'ops:read',
  summary: 'An event with the bytes and headers as they were received.',
  answers: { 200: { description: 'The event.', schema: fullEvent } },
  problems: ['not_found'],
  handle: async (deps, { params }) => json(200, await eventOrProblem(deps, params.source, params.event_id)),
});

export const replayEvent = defineRoute({
  method: 'POST',
  path: '/v1/events/{source}/{event_id}/replay',
  scope: 'ops:write',
  summary: 'Look at an event again; harmless however often.',
  answers: { 202: { description: 'The event as it was; it is looked at again in a moment.', schema: fullEvent } },
  problems: ['not_found'],
  async handle(deps, { params: { source, event_id: eventId } }) {
    const found = await eventOrProblem(deps, source, eventId);
    await understandAnew(deps, found);
    const replayed = await replay(deps.pool, source, eventId);
    if (replayed !== null && replayed.paymentId !== null) {
      deps.handOvers.start({ source, eventId, paymentId: replayed.paymentId, orderId: replayed.orderId });
    }
    return json(202, await eventOrProblem(deps, source, eventId));
  },
});

async function eventOrProblem({ pool }: ApiDeps, source: string, eventId: string): Promise<FullEventView> {
  const found = isStorableText(source + eventId) ? await readEvent(pool, source, eventId) : null;
  if (found === null) throw new Problem('not_found', 'There is no event of this id.');
  return found;
}
