import { createHash } from 'node:crypto';
import { type AdmittedEvent, admitEvent } from '../domain/admit-event.ts';
import { cleanedJson, jsonDepth } from '../domain/cleaned-text.ts';
import type { Mode } from '../domain/gateway-facts.ts';
import type { Policies } from '../domain/policies.ts';
import type { Gateway, WebhookHeaders } from './gateway.ts';

/** A configured source as whoever takes in its events needs it. */
export interface Source {
  readonly gateway: Gateway;
  readonly mode: Mode;
}

/** No gateway nests beyond a dozen; thousands break `jsonb`, whose parser recurses. */
const DEEPEST_JSON = 512;

/**
 * What a body is to us that the gateway sent, or that it lists, and the JSON that is kept of it.
 *
 * @param keepPayload false where PostgreSQL has refused the JSON: then the event is held
 */
export function admitted(
  policies: Pick<Policies, 'ignoreBefore'>,
  { gateway, mode }: Source,
  body: Buffer,
  headers: WebhookHeaders,
  sha256: Buffer,
  keepPayload = true,
): { readonly event: AdmittedEvent; readonly payload: string | null } {
  const payload = keepPayload ? keptPayload(body) : null;
  const event = admitEvent({
    reading: gateway.read(body, headers),
    sourceMode: mode,
    isJson: payload !== null,
    bodySha256Hex: sha256.toString('hex'),
    ignoreBefore: policies.ignoreBefore,
    sha256Hex: (text) => createHash('sha256').update(text).digest('hex'),
  });
  return { event, payload };
}

/** The body as JSON text that `jsonb` takes; null where it is no JSON. A BOM is no JSON either. */
function keptPayload(body: Buffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
    JSON.parse(text);
    return jsonDepth(text) > DEEPEST_JSON ? null : cleanedJson(text);
  } catch {
    return null;
  }
}
