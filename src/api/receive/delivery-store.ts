import type { Delivery } from '../../database/delivery-statement.ts';
import type { Pool } from '../../database/pool.ts';
import { isDatabaseUnavailable, isDeadlock } from '../../database/postgres-errors.ts';
import { storeDeliveries, type StoredDelivery } from '../../database/store-delivery.ts';
import { TooLate, within } from '../within.ts';

/** Stores deliveries; each call is answered once its delivery is durable. */
export interface DeliveryStore {
  /** @throws what PostgreSQL says, or TooLate; then the delivery may be stored all the same */
  store(delivery: Delivery): Promise<StoredDelivery>;
}

/** Two at a time keep PostgreSQL's log busy; more of them would only make smaller groups. */
const MOST_GROUPS = 2;
/** Past some dozens a group gains nothing, and the first of it waits for the last. */
const MOST_IN_GROUP = 100;
/** A group is one message to PostgreSQL; large bodies go nearly alone. */
const MOST_BYTES_IN_GROUP = 1024 * 1024;
/** The whole ack, waiting for a turn included, must come while the gateway listens (5 s). */
const LONGEST_WAIT_MS = 4_500;

interface Waiting {
  readonly delivery: Delivery;
  readonly key: string;
  readonly resolve: (stored: StoredDelivery) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Groups what comes while PostgreSQL is busy into one statement and one commit; what comes to an idle one goes at once and
 * alone, so that nobody waits for company.
 */
export function createDeliveryStore(pool: Pool): DeliveryStore {
  let waiting: Waiting[] = [];
  let groups = 0;

  function next(): void {
    while (groups < MOST_GROUPS && waiting.length > 0) {
      const group = takeGroup();
      groups += 1;
      void storeGroup(pool, group).finally(() => {
        groups -= 1;
        next();
      });
    }
  }

  /** The oldest ones, one of each event: a copy must see the first one stored. */
  function takeGroup(): Waiting[] {
    const group: Waiting[] = [];
    const left: Waiting[] = [];
    const keys = new Set<string>();
    let bytes = 0;
    for (const one of waiting) {
      const fits = group.length === 0 || (group.length < MOST_IN_GROUP && bytes + size(one) <= MOST_BYTES_IN_GROUP);
      if (!fits || keys.has(one.key)) {
        left.push(one);
        continue;
      }
      keys.add(one.key);
      bytes += size(one);
      group.push(one);
    }
    waiting = left;
    return group;
  }

  return {
    async store(delivery) {
      const deadline = Date.now() + LONGEST_WAIT_MS;
      const key = JSON.stringify([delivery.source, delivery.event.eventId]);
      let mine: Waiting | undefined;
      const stored = new Promise<StoredDelivery>((resolve, reject) => {
        mine = { delivery, key, resolve, reject };
        waiting.push(mine);
      });
      next();
      try {
        return await within(deadline, () => stored);
      } catch (error) {
        // Its sender is told to come again; storing it now would only keep others waiting.
        if (error instanceof TooLate) waiting = waiting.filter((one) => one !== mine);
        throw error;
      }
    },
  };
}

function size({ delivery }: Waiting): number {
  return delivery.body.length;
}

/** Never throws. A group that PostgreSQL refuses is tried row by row, so that one bad row fails alone. */
async function storeGroup(pool: Pool, group: readonly Waiting[]): Promise<void> {
  try {
    const stored = await storeDeliveries(
      pool,
      group.map((one) => one.delivery),
    );
    group.forEach((one, at) => {
      const mine = stored[at];
      if (mine === undefined) one.reject(new Error('The delivery was not stored.'));
      else one.resolve(mine);
    });
  } catch (error) {
    if (group.length === 1 || (isDatabaseUnavailable(error) && !isDeadlock(error))) {
      for (const one of group) one.reject(error);
    } else {
      for (const one of group) await storeGroup(pool, [one]);
    }
  }
}
