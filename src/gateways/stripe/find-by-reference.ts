import { isJsonObject, objectIn, type JsonObject } from '../event-body.ts';
import { PAGE, type Page, type StripeApi } from './stripe-api.ts';

export interface LookUp<Facts> {
  /** Completes "stripe did not …". */
  readonly what: string;
  readonly reference: string;
  /** When the reference came into being, by our clock. */
  readonly since: Date;
  /** One page of a list that Stripe shows newest first. */
  readonly ask: (page: Page) => Promise<unknown>;
  readonly toFacts: (object: unknown) => Facts | null;
  /** Refusals of the first page that mean that there is no such list. Without it there are none: no list proves nothing absent. */
  readonly isAbsent?: Parameters<StripeApi['read']>[2];
}

/** Between two clocks nobody vouches for an hour; a day of a list is some pages at most. */
const MARGIN_SECONDS = 24 * 60 * 60;

/**
 * The objects of a list that bear our reference in their metadata, all pages back to `since`; null where
 * `isAbsent` says that there is no such list. Lists, and not Stripe's search: a list shows an object as soon as it is
 * there, search lags behind, and an object that it has not seen yet would be made a second time.
 *
 * Throws `temporary` alone, also for a page or an object of ours that cannot be understood: absent would be a lie.
 */
export async function findByReference<Facts>(api: StripeApi, lookUp: LookUp<Facts>): Promise<Facts[] | null> {
  const { what, reference, since, ask, toFacts, isAbsent = never } = lookUp;
  const oldest = since.getTime() / 1000 - MARGIN_SECONDS;
  const found: Facts[] = [];
  let after: string | undefined;
  for (;;) {
    const start: Page = { limit: PAGE, ...(after === undefined ? {} : { starting_after: after }) };
    const answer = await api.read(what, () => ask(start), after === undefined ? isAbsent : never);
    if (answer === null) return null;
    const page = readWholePage(answer);
    if (page === null) throw api.misread(what, 'temporary');
    for (const object of page.objects) {
      if (objectIn(object, 'metadata')['paidonce_reference'] !== reference) continue;
      const facts = toFacts(object);
      if (facts === null) throw api.misread(what, 'temporary');
      found.push(facts);
    }
    const last = page.objects.at(-1);
    if (!page.hasMore || isOlderThan(oldest, last)) return found;
    const next = last?.['id'];
    // More is said to follow, and it cannot be asked for, or would be this page again.
    if (typeof next !== 'string' || next === after) throw api.misread(what, 'temporary');
    after = next;
  }
}

function readWholePage(answer: unknown): { objects: JsonObject[]; hasMore: boolean } | null {
  if (!isJsonObject(answer) || !Array.isArray(answer['data'])) return null;
  const objects = answer['data'] as unknown[];
  const hasMore = answer['has_more'];
  return typeof hasMore === 'boolean' && objects.every(isJsonObject) ? { objects, hasMore } : null;
}

function isOlderThan(oldest: number, object: JsonObject | undefined): boolean {
  const created = object?.['created'];
  return typeof created === 'number' && created < oldest;
}

function never(): boolean {
  return false;
}
