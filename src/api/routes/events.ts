import { createHash } from 'node:crypto';
import { listEvents as list } from '../../database/list-events.ts';
import { type FullEventView, readEvent } from '../../database/read-event.ts';
import { readmitEvent } from '../../database/readmit-event.ts';
import { replayEvent as replay } from '../../database/replay-event.ts';
import { isStorableText } from '../../domain/cleaned-text.ts';
import { Problem } from '../../domain/problem.ts';
import { decodeCursor, encodeCursor } from '../cursor.ts';
import type { ApiDeps } from '../deps.ts';
import { admitted } from '../receive/admitted.ts';
import { defineRoute, json } from '../route.ts';
import { DEFAULT_LIMIT, listOf } from '../schemas/common.ts';
import { event, eventFilter, fullEvent } from '../schemas/operations.ts';

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
    const [receivedAt = '', source = '', eventId = ''] =
      query.cursor === undefined ? [] : decodeCursor(query.cursor, CURSOR);
    const filter = {
      source: query.source ?? null,
      type: query.type ?? null,
      paymentId: query.payment_id ?? null,
      orderId: query.order_id ?? null,
      state: query.state ?? null,
      from: query.from ?? null,
      to: query.to ?? null,
    };
    const after = query.cursor === undefined ? null : { receivedAt, source, eventId };
    const { events, next } = await list(deps.pool, filter, { limit: query.limit ?? DEFAULT_LIMIT, after });
    const cursor = next === null ? null : encodeCursor([next.receivedAt, next.source, next.eventId]);
    return json(200, { data: events, next_cursor: cursor });
  },
});

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

/** What could not be understood when it came may be now: the gateway's format was learnt, or its setting mended. */
async function understandAnew(deps: ApiDeps, found: FullEventView): Promise<void> {
  const source = deps.sources.get(found.source);
  if (source === undefined || found.raw_base64 === null || found.state !== 'held' || found.payment_id !== null) return;
  const body = Buffer.from(found.raw_base64, 'base64');
  const sha256 = createHash('sha256').update(body).digest();
  const { event: understood } = admitted(deps.policies, source, body, (found.headers ?? {}) as never, sha256);
  if (understood.state === 'pending') await readmitEvent(deps.pool, found.source, found.event_id, understood);
}

async function eventOrProblem({ pool }: ApiDeps, source: string, eventId: string): Promise<FullEventView> {
  const found = isStorableText(source + eventId) ? await readEvent(pool, source, eventId) : null;
  if (found === null) throw new Problem('not_found', 'There is no event of this id.');
  return found;
}
