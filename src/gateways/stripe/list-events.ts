import { isStorableText } from '../../domain/cleaned-text.ts';
import { isJsonObject } from '../event-body.ts';
import type { EventListing, EventPage } from '../gateway.ts';
import { openWindow, windowPage } from '../listing-window.ts';
import { EVENT_KINDS } from './event-kinds.ts';
import { readPage, type StripeApi } from './stripe-api.ts';
import { UNREADABLE_ANSWER } from './stripe-http-client.ts';

/** Stripe promises no more than that events are listed for 30 days; one that is an hour behind is a case for its status page. */
const APPEARS_WITHIN_MS = 60 * 60_000;

/**
 * The types that mean something here, but one: Stripe takes 20 of them at most, and whenever it makes `charge.refund.updated`
 * it makes `refund.updated` as well.
 */
const TYPES = [...EVENT_KINDS.keys()].filter((type) => type !== 'charge.refund.updated');

/**
 * Events of the account, whether an endpoint asked for them or not, with the ids and bodies that their webhooks have. Of
 * the last 30 days: Stripe keeps no more. Throws `temporary`.
 */
export async function listEvents(api: StripeApi, listing: EventListing): Promise<EventPage> {
  const window = openWindow(listing, APPEARS_WITHIN_MS);
  const what = 'list the events of the account';
  const asked = {
    created: { gte: window.from, lt: window.to },
    limit: listing.limit,
    ...(window.rest === null ? {} : { starting_after: window.rest }),
  };
  const answer =
    (await api.read(what, () => api.sdk.events.list({ ...asked, types: TYPES }), cannotNarrow)) ??
    // An API that cannot narrow the list shows all of it.
    (await api.read(
      what,
      () => api.sdk.events.list(asked),
      () => false,
    ));
  const page = readPage(answer);
  if (page === null || !page.objects.every(isJsonObject) || !isStorableText(page.next ?? ''))
    throw api.misread(what, 'temporary');
  const events = page.objects.map((event) => ({ body: Buffer.from(JSON.stringify(event)), headers: {} }));
  return windowPage(window, events, page.next ?? null, listing.now, APPEARS_WITHIN_MS);
}

/** In Stripe's own words a place that it does not know any more is `resource_missing`; that no list is there is a 404. */
function cannotNarrow({ statusCode, code }: { statusCode?: number; code?: string }): boolean {
  return statusCode === 400 && code !== 'resource_missing' && code !== UNREADABLE_ANSWER;
}
