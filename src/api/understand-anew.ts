import type { FullEventView } from '../database/read-event.ts';
import { readmitEvent } from '../database/readmit-event.ts';
import { readAnew } from '../gateways/read-anew.ts';
import type { ApiDeps } from './deps.ts';

/** What could not be understood when it came may be now: the gateway's format was learnt, or its setting mended. */
export async function understandAnew(deps: ApiDeps, found: FullEventView): Promise<void> {
  const source = deps.sources.get(found.source);
  if (source === undefined || found.state !== 'held' || found.payment_id !== null) return;
  const understood = readAnew(deps.policies, source, found);
  if (understood?.state === 'pending') await readmitEvent(deps.pool, found.source, found.event_id, understood);
}
