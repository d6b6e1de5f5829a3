import { createHmac, timingSafeEqual } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import { Webhook } from 'standardwebhooks';
import { InvalidSignature } from '../../domain/gateway-error.ts';
import type { WebhookSecret } from '../../domain/source-config.ts';
import type { WebhookToVerify } from '../gateway.ts';
import { readEventTime } from './read-event.ts';

interface Key {
  readonly library: Webhook;
  readonly bytes: Buffer;
  readonly eventsBefore: number | null;
}

interface SignedParts {
  readonly id: string;
  readonly seconds: number;
  readonly body: Buffer;
}

/**
 * The library hashes in plain JavaScript: 0.2 ms for an event's usual kilobyte, but 185 ms, with the process standing
 * still, for the 8 MiB that anybody may post without knowing a secret. Beyond this size node's own hash is used.
 */
const LARGEST_FOR_LIBRARY = 16 * 1024;

/**
 * Checks Standard Webhooks signatures against several secrets, by whole seconds on both sides of the tolerance.
 *
 * The library's `verify` reads the machine's clock and knows one tolerance, so its `sign` is used, and the comparison
 * is made here. Throws a plain `Error` at once for a secret that is not `whsec_` and base64.
 */
export function createWebhookVerifier(
  secrets: readonly WebhookSecret[],
  toleranceMs: number,
): (webhook: WebhookToVerify) => void {
  const keys = secrets.map(({ secret, eventsBefore }): Key => ({
    library: new Webhook(secret),
    bytes: Buffer.from(secret.replace(/^whsec_/, ''), 'base64'),
    eventsBefore,
  }));

  return ({ body, headers, now }) => {
    const id = single(headers['webhook-id'], 'webhook-id');
    const seconds = parseSeconds(single(headers['webhook-timestamp'], 'webhook-timestamp'));
    const signatures = parseSignatures(single(headers['webhook-signature'], 'webhook-signature'));
    checkAge(seconds, now, toleranceMs);

    const parts = { id, seconds, body: Buffer.from(body.buffer, body.byteOffset, body.byteLength) };
    const matching = keys.filter((key) => {
      const expected = sign(key, parts);
      return signatures.some((signature) => equal(signature, expected));
    });
    if (matching.length === 0)
      throw new InvalidSignature('mismatch', 'No signature was made with a secret of this source.');
    if (matching.some((key) => key.eventsBefore === null)) return;
    const eventTime = readEventTime(body) ?? seconds * 1000;
    if (!matching.some((key) => key.eventsBefore !== null && eventTime < key.eventsBefore)) {
      throw new InvalidSignature('mismatch', 'The secret of this signature no longer holds for an event of this time.');
    }
  };
}

function single(header: string | string[] | undefined, name: string): string {
  if (header === undefined || header === '' || header.length === 0)
    throw new InvalidSignature('missing', `There is no ${name} header.`);
  if (typeof header !== 'string') throw new InvalidSignature('malformed', `The ${name} header came more than once.`);
  return header;
}

function parseSeconds(text: string): number {
  if (!/^[1-9]\d{0,10}$/.test(text))
    throw new InvalidSignature('malformed', 'webhook-timestamp is not a number of seconds.');
  return Number(text);
}

function parseSignatures(header: string): Buffer[] {
  // The list is separated by spaces alone; ', ' is how node joins a header that came more than once.
  if (header.includes(', '))
    throw new InvalidSignature('malformed', 'The webhook-signature header came more than once.');
  const signatures = header.split(' ').filter((entry) => entry.startsWith('v1,'));
  if (signatures.length === 0)
    throw new InvalidSignature('malformed', 'webhook-signature holds no signature of version v1.');
  return signatures.map((signature) => Buffer.from(signature));
}

function checkAge(seconds: number, now: number, toleranceMs: number): void {
  const ageMs = (Math.floor(now / 1000) - seconds) * 1000;
  if (ageMs > toleranceMs) throw new InvalidSignature('too_old', 'The webhook was signed too long ago.');
  if (-ageMs > toleranceMs) throw new InvalidSignature('too_new', 'The webhook claims a time too far in the future.');
}

/**
 * The library signs text. Given bytes that are none it would sign a text in which every stray byte has become the same
 * replacement character, so that other bytes would pass under one signature; those are signed as bytes (A1).
 */
function sign(key: Key, { id, seconds, body }: SignedParts): Buffer {
  if (body.length <= LARGEST_FOR_LIBRARY && isUtf8(body) && /^[\x20-\x7e]*$/.test(id)) {
    return Buffer.from(key.library.sign(id, new Date(seconds * 1000), body));
  }
  // node:http hands a header's bytes over as one character each.
  const hmac = createHmac('sha256', key.bytes)
    .update(Buffer.from(`${id}.${seconds}.`, 'latin1'))
    .update(body);
  return Buffer.from(`v1,${hmac.digest('base64')}`);
}

function equal(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
