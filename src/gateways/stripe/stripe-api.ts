import Stripe from 'stripe';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { SourceConfig } from '../../domain/source-config.ts';
import { isJsonObject } from '../event-body.ts';
import { StripeHttpClient, UNREADABLE_ANSWER } from './stripe-http-client.ts';
import { toGatewayError, type StripeCall } from './to-gateway-error.ts';

const PUBLIC_API = 'https://api.stripe.com';

/** The most that Stripe puts on one page. */
export const PAGE = 100;

type Refusal = InstanceType<typeof Stripe.errors.StripeError>;
type WriteCall = Omit<StripeCall, 'source' | 'kind'>;

export interface StripeApi {
  /** The SDK; every call of it goes through one of the methods below. */
  readonly sdk: Stripe;
  /** The answer, or null where `isAbsent` (Stripe does not know the object) says so. Else throws `temporary`. */
  read<T>(what: string, ask: () => Promise<T>, isAbsent?: (refusal: Refusal) => boolean): Promise<T | null>;
  /** All pages of a list, as `toFacts` sees its objects; empty where Stripe does not know what it is a list of. */
  readAll<T>(what: string, ask: (page: Page) => Promise<unknown>, toFacts: (object: unknown) => T | null): Promise<T[]>;
  /** The answer as `toFacts` sees it. Throws `rejected`, `temporary` or `unknown`. */
  write<T>(call: WriteCall, send: () => Promise<unknown>, toFacts: (object: unknown) => T | null): Promise<T>;
  /** For an answer that is not what was asked for. `what` completes "stripe did not …". */
  misread(what: string, kind: 'temporary' | 'unknown'): GatewayError;
}

export interface Page {
  readonly limit: number;
  readonly starting_after?: string;
}

/** The official SDK with one request per call, one timeout over all of it, and one kind of error. */
export function createStripeApi(config: SourceConfig, timeoutMs: number): StripeApi {
  const source = config.name;
  const sdk = new Stripe(config.apiKey, {
    httpClient: new StripeHttpClient(config.apiBase ?? PUBLIC_API),
    timeout: timeoutMs,
    // Retries live in Temporal alone (F4).
    maxNetworkRetries: 0,
    telemetry: false,
  });

  function misread(what: string, kind: 'temporary' | 'unknown'): GatewayError {
    return new GatewayError(`${source} did not ${what} in a way that could be understood exactly.`, {
      kind,
      code: UNREADABLE_ANSWER,
    });
  }

  async function read<T>(what: string, ask: () => Promise<T>, isAbsent = isUnknownObject): Promise<T | null> {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof Stripe.errors.StripeError && isAbsent(error)) return null;
      throw toGatewayError(error, { source, kind: 'read', what });
    }
  }

  return {
    sdk,
    read,
    misread,

    async readAll(what, ask, toFacts) {
      const found = [];
      const asked = new Set<string>();
      let after: string | undefined;
      do {
        const answer = await read(what, () =>
          ask({ limit: PAGE, ...(after === undefined ? {} : { starting_after: after }) }),
        );
        if (answer === null && after === undefined) return [];
        const page = readPage(answer);
        if (page === null) throw misread(what, 'temporary');
        for (const object of page.objects) {
          const facts = toFacts(object);
          if (facts === null) throw misread(what, 'temporary');
          found.push(facts);
        }
        // A page that was asked for before leads round in a circle.
        if (page.next !== undefined && asked.has(page.next)) throw misread(what, 'temporary');
        if (page.next !== undefined) asked.add(page.next);
        after = page.next;
      } while (after !== undefined);
      return found;
    },

    async write(call, send, toFacts) {
      let answer: unknown;
      try {
        answer = await send();
      } catch (error) {
        throw toGatewayError(error, { source, kind: 'write', ...call });
      }
      const facts = toFacts(answer);
      if (facts === null) throw misread(call.what, 'unknown');
      return facts;
    },
  };
}

/**
 * The objects of one page, and after which one the next page begins; null for an answer that is no whole page: taken for the last
 * one, it would prove absent what it does not show.
 */
export function readPage(answer: unknown): { objects: unknown[]; next: string | undefined } | null {
  if (!isJsonObject(answer) || !Array.isArray(answer['data'])) return null;
  const objects = answer['data'] as unknown[];
  const last = objects.at(-1);
  const lastId = isJsonObject(last) && typeof last['id'] === 'string' ? last['id'] : undefined;
  const hasMore = answer['has_more'];
  if (typeof hasMore !== 'boolean' || (hasMore && lastId === undefined)) return null;
  return { objects, next: hasMore ? lastId : undefined };
}

/** In Stripe's own words; another's 404 says nothing about the object. */
function isUnknownObject({ statusCode, code }: Refusal): boolean {
  return statusCode === 404 && code !== UNREADABLE_ANSWER;
}
