import { claimOutbox, markPublished, postponeOutboxRow } from '../database/claim-outbox.ts';
import { startRequested } from './start-requested.ts';
import type { RelayDependencies } from './sweep-inbox.ts';

/**
 * Publishes a batch of the outbox with no transaction open (G2): starts what `….requested` rows ask for. An announcement without a consumer is
 * published to nobody. A row that fails backs off alone.
 *
 * @returns whether there may be more
 */
export async function sweepOutbox(deps: RelayDependencies): Promise<boolean> {
  const rows = await claimOutbox(deps.pool, deps.batch);
  const published: bigint[] = [];
  await Promise.all(
    rows.map(async (row) => {
      try {
        await startRequested(deps.client, row);
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
