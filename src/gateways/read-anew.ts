import { createHash } from 'node:crypto';
import type { AdmittedEvent } from '../domain/admit-event.ts';
import type { Policies } from '../domain/policies.ts';
import { admitted, type Source } from './admitted.ts';
import type { WebhookHeaders } from './gateway.ts';

/** An event as it was received; without its bytes where they are older than what is kept. */
export interface KeptEvent {
  readonly raw_base64: string | null;
  readonly headers: Readonly<Record<string, unknown>> | null;
}

/**
 * What an event is to us now that could not be understood when it came: since then the gateway's format may have been learnt,
 * or a setting mended. Null where its bytes are no longer kept.
 */
export function readAnew(
  policies: Pick<Policies, 'ignoreBefore'>,
  source: Source,
  { raw_base64: raw, headers }: KeptEvent,
): AdmittedEvent | null {
  if (raw === null) return null;
  const body = Buffer.from(raw, 'base64');
  const sha256 = createHash('sha256').update(body).digest();
  // They came out of the table as they went in.
  return admitted(policies, source, body, (headers ?? {}) as WebhookHeaders, sha256).event;
}
