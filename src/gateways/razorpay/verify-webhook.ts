import { createHmac, timingSafeEqual } from 'node:crypto';
import { InvalidSignature } from '../../domain/gateway-error.ts';
import type { WebhookSecret } from '../../domain/source-config.ts';
import { parseEventBody } from '../event-body.ts';
import { readTime } from '../fields.ts';
import type { WebhookToVerify } from '../gateway.ts';

/**
 * Checks `X-Razorpay-Signature`, the HMAC-SHA256 of the raw body as lower-case hex, against several secrets. It covers no
 * time, so a replay is told by the event's id alone; and Razorpay signs the retries of older events with the secret of
 * their day, so that a secret can hold for the events before a moment. Throws nothing but `InvalidSignature`.
 */
export function createRazorpayVerifier(secrets: readonly WebhookSecret[]): (webhook: WebhookToVerify) => void {
  return ({ body, headers }) => {
    const signature = parseSignature(headers['x-razorpay-signature']);
    const matching = secrets.filter(
      // An empty secret would let anybody sign.
      ({ secret }) => secret !== '' && timingSafeEqual(createHmac('sha256', secret).update(body).digest(), signature),
    );
    if (matching.length === 0) {
      throw new InvalidSignature('mismatch', 'The signature was made with no secret of this source.');
    }
    if (matching.some(({ eventsBefore }) => eventsBefore === null)) return;
    const eventTime = readCreated(body);
    if (!matching.some(({ eventsBefore }) => eventTime !== null && eventsBefore !== null && eventTime < eventsBefore)) {
      throw new InvalidSignature('mismatch', 'The secret of this signature no longer holds for an event of this time.');
    }
  };
}

/** The 32 bytes; `Buffer.from` alone would stop at the first odd character and give fewer. */
function parseSignature(header: string | string[] | undefined): Buffer {
  if (header === undefined || header.length === 0) {
    throw new InvalidSignature('missing', 'There is no X-Razorpay-Signature header.');
  }
  if (typeof header !== 'string' || !/^[0-9a-f]{64}$/.test(header)) {
    throw new InvalidSignature('malformed', 'The X-Razorpay-Signature header is not 64 lower-case hex digits.');
  }
  return Buffer.from(header, 'hex');
}

function readCreated(body: Uint8Array): number | null {
  const parsed = parseEventBody(body);
  return 'event' in parsed ? (readTime(parsed.event['created_at']) ?? null) : null;
}
