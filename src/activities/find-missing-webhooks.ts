import {
  abandonPass,
  type EventListing,
  isRecoveredBy,
  moveEventListing,
  noteListingFailed,
  readEventListing,
  restartEventListing,
} from '../database/event-listing.ts';
import { closeAlert, raiseAlert } from '../database/raise-alert.ts';
import { GatewayError } from '../domain/gateway-error.ts';
import { listingAlertKey } from '../domain/keys.ts';
import type { EventPage } from '../gateways/gateway.ts';
import type { Dependencies } from './dependencies.ts';
import { sourceOf } from './source-of.ts';
import { takeInListed } from './take-in-listed.ts';

export interface ListedPage {
  /** How many entries the gateway listed. */
  readonly listed: number;
  /** The ids of the events whose webhooks never came. */
  readonly found: readonly string[];
  /** How many were left to their webhooks, which may be on their way. */
  readonly left: number;
  /** Whether the list goes on. */
  readonly more: boolean;
  /** Why nothing was listed, for the operator. */
  readonly problem: string | null;
}

/** What every gateway puts on one page. */
const PAGE = 100;
/** A gateway's trouble is over within the hour, or is somebody's to look at: the payments themselves are not late yet. */
const ALERT_AFTER_MS = 60 * 60_000;
/** A first listing of millions of events takes hours; what takes longer has no end. */
const LONGEST_PASS_MS = 6 * 60 * 60_000;
/** How gateways say that they do not know a cursor any more; a 404 without a word is about the list, not the place in it. */
const CURSOR_REFUSED = /^(unknown_cursor|resource_missing|http_4(00|10))$/;

/**
 * Lists one page of what the gateway says that it sent and takes in what never came (H2). The place moves only once all of the page is
 * durable: killed before, the page is listed again, and nothing of it is stored twice. A gateway that gives no list keeps the place:
 * the next run goes on from there.
 */
export function createFindMissingWebhooks(
  deps: Pick<Dependencies, 'pool' | 'sources' | 'policies' | 'metrics' | 'log' | 'wakeRelay'>,
) {
  const { pool, policies } = deps;

  return async function findMissingWebhooks(name: string): Promise<ListedPage> {
    const source = sourceOf(deps, name);
    const nothing = { listed: 0, found: [], left: 0, more: false, problem: null };
    if (source.gateway.capabilities.listsEvents === null)
      return { ...nothing, problem: `${name} shows no list of events: a webhook that never comes is not found here.` };
    const listing = await readEventListing(pool, name, policies.orderWaitMs);
    const since = new Date(Math.max(listing.since.getTime(), policies.ignoreBefore ?? 0));
    const after = listing.underWay ? listing.place : listing.settled;
    const now = new Date();
    let page: EventPage;
    try {
      page = await source.gateway.listEvents({ after, since, now, limit: PAGE });
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const refused = after !== null && CURSOR_REFUSED.test(error.code);
      if (!refused || !(await restartEventListing(pool, name, listing)))
        return { ...nothing, problem: await failed(name, error, now) };
      deps.log.warn({ source: name, err: error }, 'the gateway does not know where its list was left: listed anew');
      return { ...nothing, more: true };
    }
    const { found, left } = await takeInListed(deps, { source, events: page.events, since, now });
    const taken = { listed: page.events.length, found, left };
    if (page.next !== null && page.next === listing.mark) {
      // The next run begins anew, so that what is new before the circle is found meanwhile.
      await abandonPass(pool, name, listing);
      return { ...taken, more: false, problem: await failed(name, circle(name), now) };
    }
    await moveOn(name, listing, page, now);
    return { ...taken, more: page.next !== null, problem: null };
  };

  async function moveOn(name: string, listing: EventListing, page: EventPage, now: Date): Promise<void> {
    await moveEventListing(pool, name, listing, page);
    const tooLong = listing.beganAt !== null && now.getTime() - listing.beganAt.getTime() >= LONGEST_PASS_MS;
    if (tooLong && page.next !== null) await raise(name);
    else if (tooLong || (listing.failing && isRecoveredBy(listing, page)))
      await closeAlert(pool, listingAlertKey(name));
  }

  function raise(name: string): Promise<void> {
    return raiseAlert(pool, { key: listingAlertKey(name), kind: 'events_not_listed', subject: { source: name } });
  }

  async function failed(name: string, error: GatewayError, now: Date): Promise<string> {
    const problem = `${error.message} Webhooks that never came are not found meanwhile; the next run goes on.`;
    const failingSince = await noteListingFailed(pool, name, error.message);
    deps.log.warn({ source: name, err: error, failing_since: failingSince }, 'events not listed');
    if (now.getTime() - failingSince.getTime() >= ALERT_AFTER_MS) await raise(name);
    return problem;
  }
}

function circle(name: string): GatewayError {
  const message = `The list of ${name} goes round in a circle: a page leads back to one that was listed before.`;
  return new GatewayError(message, { kind: 'temporary', code: 'unexpected_answer' });
}
