import { z } from 'zod';
import { isStorableText } from '../../domain/cleaned-text.ts';
import { CLOCK_DRIFT_MS } from '../../domain/clock-drift.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { isJsonObject } from '../event-body.ts';
import { parseExactList } from '../exact-list.ts';
import { readTime } from '../fields.ts';
import type { EventListing, EventPage, ListedEvent } from '../gateway.ts';
import { queryPath } from './paths.ts';
import type { StandardApi } from './standard-api.ts';

/**
 * An entry may appear in the list this long after its own time: far longer than a list lags behind that is written beside the
 * webhooks, and one hour of anybody's events is a few pages, listed anew each time.
 */
const APPEARS_WITHIN_MS = 60 * 60_000;

const cursor = z
  .union([z.string().max(1_000).refine(isStorableText), z.number().transform(String)])
  .nullish()
  .transform((text) => (text === '' ? null : (text ?? null)));
const answer = z.object({ data: z.array(z.unknown()), next: cursor });

/** `GET /events`: what was sent, with the id that its webhook has. Throws `temporary`. */
export async function listEvents(api: StandardApi, listing: EventListing): Promise<EventPage> {
  const { after, limit, now } = listing;
  const path = queryPath('/events', { ...(after === null ? {} : { after }), limit: String(limit) });
  const page = await api.read(path, answer, parseExactList);
  if (page === null) {
    const message = 'The gateway does not know GET /events, the list of what it sent.';
    throw new GatewayError(message, { kind: 'temporary', code: 'http_404' });
  }
  // A place that leads to itself is the end of what is there.
  const next = page.next === after ? null : page.next;
  const settledBefore = now.getTime() - APPEARS_WITHIN_MS;
  return {
    events: page.data.map(listed),
    next,
    settled: page.data.every((entry) => isSettled(entry, settledBefore, now)),
  };
}

/** As the webhook would have come: its id in the header, all else in the body. */
function listed(entry: unknown): ListedEvent {
  if (!isJsonObject(entry)) return { body: Buffer.from(JSON.stringify(entry)), headers: {} };
  const { id, ...body } = entry;
  const named = typeof id === 'string' || typeof id === 'number';
  return { body: Buffer.from(JSON.stringify(body)), headers: named ? { 'webhook-id': String(id) } : {} };
}

function isSettled(entry: unknown, before: number, now: Date): boolean {
  const at = isJsonObject(entry) ? readTime(entry['timestamp']) : null;
  return typeof at !== 'number' || at < before || at > now.getTime() + CLOCK_DRIFT_MS;
}
