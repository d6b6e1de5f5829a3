import { createHash } from 'node:crypto';
import type { FullEventView } from '../database/read-event.ts';
import { readmitEvent } from '../database/readmit-event.ts';
import type { ApiDeps } from './deps.ts';
import { admitted } from '../gateways/admitted.ts';

/** What could not be understood when it came may be now: the gateway's format was learnt, or its setting mended. */
export async function understandAnew(deps: ApiDeps, found: FullEventView): Promise<void> {
  const source = deps.sources.get(found.source);
  if (source === undefined || found.raw_base64 === null || found.state !== 'held' || found.payment_id !== null) return;
  const body = Buffer.from(found.raw_base64, 'base64');
  const sha256 = createHash('sha256').update(body).digest();
  const { event: understood } = admitted(deps.policies, source, body, (found.headers ?? {}) as never, sha256);
  if (understood.state === 'pending') await readmitEvent(deps.pool, found.source, found.event_id, understood);
}
