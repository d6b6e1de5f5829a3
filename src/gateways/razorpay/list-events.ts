import { isJsonObject, type JsonObject } from '../event-body.ts';
import type { EventListing, EventPage, ListedEvent } from '../gateway.ts';
import { openWindow, windowPage } from '../listing-window.ts';
import type { RazorpayAccount } from './razorpay-account.ts';

/**
 * Payments and refunds are listed by when they were made, and what becomes of them may come much later: a payment is usually
 * captured, and a refund done, within the day. A day of anybody's payments is listed anew each time, a hundred to a page.
 */
const APPEARS_WITHIN_MS = 24 * 60 * 60_000;

const PAYMENT_EVENTS: ReadonlyMap<unknown, string> = new Map([
  ['pending', 'payment.pending'],
  ['authorized', 'payment.authorized'],
  ['captured', 'payment.captured'],
  ['refunded', 'payment.captured'],
  ['failed', 'payment.failed'],
]);

const REFUND_EVENTS: ReadonlyMap<unknown, string> = new Map([
  ['pending', 'refund.created'],
  ['created', 'refund.created'],
  ['processed', 'refund.processed'],
  ['failed', 'refund.failed'],
]);

interface Kind {
  /** How the entity is called in an event's payload. */
  readonly name: 'payment' | 'refund' | 'payout';
  /** Null: its making is no event. */
  readonly eventOf: (entity: JsonObject) => string | null;
}

/** An unknown state has no event's name, and the event is held. */
const UNREADABLE = '';

const KINDS: readonly Kind[] = [
  {
    name: 'payment',
    eventOf: (entity) => {
      if (entity['status'] === 'created') return null;
      // An authorization that nobody captured in time goes back by itself, as a refund.
      if (entity['status'] === 'refunded' && entity['captured'] === false) return 'refund.processed';
      return PAYMENT_EVENTS.get(entity['status']) ?? UNREADABLE;
    },
  },
  { name: 'refund', eventOf: (entity) => REFUND_EVENTS.get(entity['status']) ?? UNREADABLE },
  { name: 'payout', eventOf: () => 'payout.updated' },
];

/**
 * Razorpay lists no events, but payments, refunds and payouts by when they were made. Each is an event without an id that
 * says what the object's state says; the id is derived from the fact (A4). Throws `temporary`.
 */
export async function listEvents(account: RazorpayAccount, listing: EventListing): Promise<EventPage> {
  const { api, accountNumber, misread } = account;
  const kinds = KINDS.filter(({ name }) => name !== 'payout' || accountNumber !== null);
  const window = openWindow(listing, APPEARS_WITHIN_MS);
  const [at = 0, skip = 0] = (window.rest ?? '').split('.').map(Number);
  const kind = kinds[at];
  if (kind === undefined) return windowPage(window, [], null, listing.now, APPEARS_WITHIN_MS);
  const query = new URLSearchParams({
    ...(kind.name === 'payout' ? { account_number: accountNumber ?? '' } : {}),
    // Both ends are included.
    ...{ from: String(window.from), to: String(window.to) },
    ...{ count: String(listing.limit), skip: String(skip) },
  });
  const answer = await api.get(`/v1/${kind.name}s?${query.toString()}`);
  const items = isJsonObject(answer) ? answer['items'] : undefined;
  if (!Array.isArray(items) || !items.every(isJsonObject)) throw misread(`its ${kind.name}s`, 'temporary');
  const events = items.flatMap((entity) => eventOf(kind, entity));
  // A short page may be the gateway's own limit; only an empty one is the end.
  const rest = items.length > 0 ? `${at}.${skip + items.length}` : at + 1 < kinds.length ? `${at + 1}.0` : null;
  return windowPage(window, events, rest, listing.now, APPEARS_WITHIN_MS);
}

function eventOf({ name, eventOf: typeOf }: Kind, entity: JsonObject): ListedEvent[] {
  const event = typeOf(entity);
  if (event === null) return [];
  const body = { entity: 'event', event, payload: { [name]: { entity } }, created_at: entity['created_at'] };
  return [{ body: Buffer.from(JSON.stringify(body)), headers: {} }];
}
