import { claimOutbox, markPublished, postponeOutboxRow, type OutboxRow } from '../database/claim-outbox.ts';
import { readWantedTypes } from '../database/wanted-types.ts';
import { EVERY_TYPE, isAnnouncementType } from '../domain/announcement-types.ts';
import { deliveryStartOptions } from './start-options.ts';
import { startRequested } from './start-requested.ts';
import type { RelayDependencies } from './sweep-inbox.ts';

/**
 * Publishes a batch of the outbox with no transaction open (G2): starts what `….requested` rows ask for, and the delivery of
 * what is announced. An announcement that nobody wants is published to nobody. A row that fails backs off alone.
 *
 * @returns whether there may be more
 */
export async function sweepOutbox(deps: RelayDependencies): Promise<boolean> {
  const rows = await claimOutbox(deps.pool, deps.batch);
  // Asked once for the whole batch, and after it was claimed: an endpoint that is there by then is heard.
  const subscribed = rows.some((row) => isAnnouncementType(row.eventType)) ? await readWantedTypes(deps.pool) : NONE;
  const isWanted = (type: string) =>
    [deps.consumerTypes ?? NONE, subscribed].some((types) => types.has(type) || types.has(EVERY_TYPE));
  const published: bigint[] = [];
  await Promise.all(
    rows.map(async (row) => {
      try {
        await publish(deps, row, isWanted);
        published.push(row.id);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        deps.log.warn(
          { outbox_id: row.id.toString(), event_type: row.eventType, err: error },
          'outbox row not published',
        );
        await postponeOutboxRow(deps.pool, row.id, message);
      }
    }),
  );
  await markPublished(deps.pool, published);
  deps.metrics.relayHandedOver.inc({ kind: 'outbox' }, published.length);
  return rows.length === deps.batch;
}

const NONE: ReadonlySet<string> = new Set();

async function publish(
  { client }: RelayDependencies,
  row: OutboxRow,
  isWanted: (type: string) => boolean,
): Promise<void> {
  if (!isAnnouncementType(row.eventType)) {
    await startRequested(client, row);
  } else if (isWanted(row.eventType)) {
    await client.start('deliverEvent', deliveryStartOptions(row.id, row.eventType, row.payload));
  }
}
