import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { createFindMissingWebhooks, type ListedPage } from '../../src/activities/find-missing-webhooks.ts';
import { readEvent } from '../../src/database/read-event.ts';
import { DEFAULT_POLICIES, type Policies } from '../../src/domain/policies.ts';
import type { Logger } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { startListingGateway, type ListingGateway } from './listing-gateway.ts';

type FindMissingWebhooks = (source: string) => Promise<ListedPage>;

/** A database and a listing gateway for the tests of one file; before each test the one is empty, the other in order. */
export function useListingLab() {
  let database: TestDatabase;
  let gateway: ListingGateway;
  const metrics = createMetrics();
  const warned: { readonly fields: Record<string, unknown>; readonly text: string }[] = [];

  beforeAll(async () => {
    [database, gateway] = await Promise.all([createTestDatabase(), startListingGateway()]);
  });
  afterAll(() => Promise.all([gateway.close(), database.drop()]));
  beforeEach(() => {
    gateway.list = [];
    gateway.answerTo = null;
    gateway.trouble = null;
    gateway.requests.length = 0;
    warned.length = 0;
  });
  afterEach(() =>
    database.pool.query(
      'truncate event_listings, webhook_events, webhook_deliveries, processed_events, dead_letters, alerts cascade',
    ),
  );

  function finder(
    over: {
      readonly pool?: pg.Pool;
      readonly source?: ListingGateway['source'];
      readonly policies?: Partial<Policies>;
    } = {},
  ): FindMissingWebhooks {
    return createFindMissingWebhooks({
      ...{ pool: over.pool ?? database.pool, metrics, wakeRelay: () => undefined },
      sources: new Map([['sim', over.source ?? gateway.source]]),
      policies: { ...DEFAULT_POLICIES, ...over.policies },
      log: {
        warn: (fields: Record<string, unknown>, text: string) => warned.push({ fields, text }),
      } as unknown as Logger,
    });
  }

  return {
    get pool(): pg.Pool {
      return database.pool;
    },
    get gateway(): ListingGateway {
      return gateway;
    },
    /** What was logged for the operator, since the test began. */
    warned,
    /** The activity, with other parts where the test says so. */
    finder,
    /** A whole pass, as the workflow makes it. */
    pass: (findMissingWebhooks = finder()) => wholePass(findMissingWebhooks),
    event: (id: string) => readEvent(database.pool, 'sim', id),
    async countOf(from: string): Promise<number> {
      const { rows } = await database.pool.query<{ n: bigint }>(`select count(*) as n from ${from}`);
      return Number(rows[0]?.n);
    },
  };
}

async function wholePass(findMissingWebhooks: FindMissingWebhooks) {
  const all = { listed: 0, found: [] as string[], left: 0, problem: null as string | null };
  let page: ListedPage;
  do {
    page = await findMissingWebhooks('sim');
    all.listed += page.listed;
    all.found.push(...page.found);
    all.left += page.left;
    all.problem = page.problem;
  } while (page.more);
  return all;
}
