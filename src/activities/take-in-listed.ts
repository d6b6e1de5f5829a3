import { createHash } from 'node:crypto';
import type { Delivery } from '../database/delivery-statement.ts';
import { knownEvents } from '../database/known-events.ts';
import { isDatabaseUnavailable, isDeadlock, isValueRefused } from '../database/postgres-errors.ts';
import { readKnownStates } from '../database/read-known-states.ts';
import { storeFoundEvents } from '../database/store-found-events.ts';
import { cleanedJson } from '../domain/cleaned-text.ts';
import { CLOCK_DRIFT_MS } from '../domain/clock-drift.ts';
import { isNews } from '../domain/is-news.ts';
import { admitted, type Source } from '../gateways/admitted.ts';
import type { ListedEvent } from '../gateways/gateway.ts';
import type { Dependencies } from './dependencies.ts';

export interface ListedNow {
  readonly source: Source;
  readonly events: readonly ListedEvent[];
  /** What happened before then is nobody's question. */
  readonly since: Date;
  readonly now: Date;
}

export interface TakenIn {
  /** Those whose webhooks never came. */
  readonly found: readonly string[];
  /** How many are not known, and so young that their webhooks may be on their way. */
  readonly left: number;
}

/**
 * Takes in what is not known of a listed page, by the same rules as a webhook (A4, A7, A8). A few statements, however much is
 * listed; safe to run twice, and beside the webhooks themselves.
 */
export async function takeInListed(
  deps: Pick<Dependencies, 'pool' | 'policies' | 'metrics' | 'log' | 'wakeRelay'>,
  { source, events, since, now }: ListedNow,
): Promise<TakenIn> {
  const name = source.gateway.source;
  const byId = new Map<string, { readonly listed: ListedEvent; readonly delivery: Delivery }>();
  for (const listed of events) {
    const delivery = deliveryOf(deps, source, listed);
    const { occurredAt, eventId } = delivery.event;
    if ((occurredAt === null || occurredAt >= since.getTime()) && !byId.has(eventId))
      byId.set(eventId, { listed, delivery });
  }
  const known = await knownEvents(deps.pool, name, [...byId.keys()]);
  let unknown = [...byId.values()].filter(({ delivery }) => !known.has(delivery.event.eventId));
  if (source.gateway.capabilities.listsEvents === 'happened') {
    const states = await readKnownStates(
      deps.pool,
      name,
      unknown.map(({ delivery }) => delivery.event),
    );
    unknown = unknown.filter(({ delivery }, at) => states[at] === undefined || isNews(delivery.event, states[at]));
  }
  const missing = unknown.filter(({ delivery }) => !isYoung(delivery.event.occurredAt, now, deps));
  const stored = await store(deps, source, missing);
  const found = missing.map(({ delivery }) => delivery.event).filter((event) => stored.has(event.eventId));
  // What means nothing here bothers nobody, whether it comes or not.
  const missed = found.filter((event) => event.state !== 'ignored');
  for (const { eventId, eventType, paymentId, orderId, state } of missed) {
    deps.metrics.webhooksMissing.inc({ source: name });
    deps.log.warn(
      { source: name, event_id: eventId, event_type: eventType, payment_id: paymentId, order_id: orderId, state },
      'found at the gateway, its webhook never came: check the address and the secret of the webhook at the gateway',
    );
  }
  if (found.some((event) => event.state === 'pending')) deps.wakeRelay();
  return { found: missed.map((event) => event.eventId), left: unknown.length - missing.length };
}

/** Whether its webhook may be on its way. One bound for the clocks with the adapter's, or an entry would be left here and settled there. */
function isYoung(occurredAt: number | null, now: Date, { policies }: Pick<Dependencies, 'policies'>): boolean {
  if (occurredAt === null) return false;
  const age = now.getTime() - occurredAt;
  return age < policies.missingWebhookAfterMs && age >= -CLOCK_DRIFT_MS;
}

function deliveryOf(
  { policies }: Pick<Dependencies, 'policies'>,
  source: Source,
  { body: bytes, headers }: ListedEvent,
  keepTexts = true,
): Delivery {
  const body = Buffer.from(bytes);
  const bodySha256 = createHash('sha256').update(body).digest();
  return {
    ...admitted(policies, source, body, headers, bodySha256, keepTexts),
    ...{ source: source.gateway.source, body, bodySha256, remoteAddress: null },
    headers: keepTexts ? cleanedJson(JSON.stringify(headers)) : '{}',
  };
}

/** What PostgreSQL refuses to take together is tried one by one, so that a bad one fails alone, and is held. */
async function store(
  deps: Pick<Dependencies, 'pool' | 'policies'>,
  source: Source,
  events: readonly { readonly listed: ListedEvent; readonly delivery: Delivery }[],
): Promise<ReadonlySet<string>> {
  const { pool } = deps;
  try {
    return new Set(
      await storeFoundEvents(
        pool,
        events.map(({ delivery }) => delivery),
      ),
    );
  } catch (error) {
    if (isDatabaseUnavailable(error) && !isDeadlock(error)) throw error;
    const stored = new Set<string>();
    for (const { listed, delivery } of events) {
      const ids = await storeFoundEvents(pool, [delivery]).catch((refused: unknown) => {
        if (!isValueRefused(refused)) throw refused;
        return storeFoundEvents(pool, [deliveryOf(deps, source, listed, false)]);
      });
      for (const id of ids) stored.add(id);
    }
    return stored;
  }
}
