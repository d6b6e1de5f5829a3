import { listDeadLetters as list } from '../../database/list-dead-letters.ts';
import { decodeCursor, encodeCursor } from '../cursor.ts';
import { findDeadLetter } from '../find-dead-letter.ts';
import { defineRoute, json } from '../route.ts';
import { DEFAULT_LIMIT, listOf, page } from '../schemas/common.ts';
import { deadLetter } from '../schemas/operations.ts';

/** Closed or open, ordinary or an extra capture, microseconds, id. */
const CURSOR = [/^[01]$/, /^[01]$/, /^\d{1,18}$/, /^[^\0]{1,2000}$/u];

export const listDeadLetters = defineRoute({
  method: 'GET',
  path: '/v1/dead-letters',
  scope: 'ops:read',
  summary: 'What waits for a person: open ones first, extra captures before all, then the oldest.',
  query: page,
  answers: { 200: { description: 'A page of dead letters.', schema: listOf(deadLetter) } },
  async handle(deps, { query }) {
    const [closed, ordinary, since = '', id = ''] =
      query.cursor === undefined ? [] : decodeCursor(query.cursor, CURSOR);
    const after = query.cursor === undefined ? null : { closed: Number(closed), ordinary: Number(ordinary), since, id };
    const { deadLetters, next } = await list(deps.pool, { limit: query.limit ?? DEFAULT_LIMIT, after });
    const cursor = next === null ? null : encodeCursor([next.closed, next.ordinary, next.since, next.id]);
    return json(200, { data: deadLetters, next_cursor: cursor });
  },
});

export const getDeadLetter = defineRoute({
  method: 'GET',
  path: '/v1/dead-letters/{id}',
  scope: 'ops:read',
  summary: 'One of them, with what can be decided.',
  answers: { 200: { description: 'The dead letter.', schema: deadLetter } },
  problems: ['not_found'],
  handle: async (deps, { params, rawParams }) => json(200, await findDeadLetter(deps, params.id, rawParams.id)),
});
