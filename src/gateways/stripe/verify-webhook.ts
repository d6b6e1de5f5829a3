import { createHmac } from 'node:crypto';
import Stripe from 'stripe';
import { InvalidSignature } from '../../domain/gateway-error.ts';
import type { WebhookSecret } from '../../domain/source-config.ts';
import { parseEventBody } from '../event-body.ts';
import { readTime } from '../fields.ts';
import type { WebhookToVerify } from '../gateway.ts';

/** Two signatures while a secret is rolled; a header with far more is somebody making work. */
const MOST_SIGNATURES = 8;
/** `t=` and `MOST_SIGNATURES` signatures of 67 characters fit twice over; v0 entries, too. */
const LONGEST_HEADER = 2_048;

interface SignatureHeader {
  readonly seconds: number;
  /** Lower-case hex of 32 bytes each. */
  readonly signatures: readonly string[];
}

/**
 * Checks `Stripe-Signature` through the official SDK, against several secrets and on both sides of the tolerance (the
 * SDK refuses the old and takes any future). Throws nothing but `InvalidSignature`.
 */
export function createStripeVerifier(
  secrets: readonly WebhookSecret[],
  toleranceMs: number,
): (webhook: WebhookToVerify) => void {
  return ({ body, headers, now }) => {
    const header = parseHeader(headers['stripe-signature']);
    checkAge(header.seconds, now, toleranceMs);
    const matching = secrets.filter(({ secret }) => holds(body, header, secret));
    if (matching.length === 0) {
      throw new InvalidSignature('mismatch', 'No signature was made with a secret of this source.');
    }
    if (matching.some(({ eventsBefore }) => eventsBefore === null)) return;
    const eventTime = readCreated(body) ?? header.seconds * 1000;
    if (!matching.some(({ eventsBefore }) => eventsBefore !== null && eventTime < eventsBefore)) {
      throw new InvalidSignature('mismatch', 'The secret of this signature no longer holds for an event of this time.');
    }
  };
}

/** Stricter than the SDK, whose comparison throws on odd bytes and which takes the last of several times. */
function parseHeader(value: string | string[] | undefined): SignatureHeader {
  if (value === undefined || value.length === 0) {
    throw new InvalidSignature('missing', 'There is no Stripe-Signature header.');
  }
  if (typeof value !== 'string') throw malformed('came more than once');
  if (value.length > LONGEST_HEADER) throw malformed('is too long');
  const entries = value.split(',').map((entry) => entry.trim().split('='));
  const times = entries.filter(([scheme]) => scheme === 't').map((entry) => entry[1] ?? '');
  const [time = ''] = times;
  if (times.length !== 1 || !/^[1-9]\d{0,10}$/.test(time)) throw malformed('does not hold one time');
  const signatures = entries
    .filter(([scheme]) => scheme === 'v1')
    .map((entry) => entry[1] ?? '')
    .filter((signature) => /^[0-9a-f]{64}$/.test(signature));
  if (signatures.length === 0) throw malformed('holds no signature of version v1');
  if (signatures.length > MOST_SIGNATURES) throw malformed('holds too many signatures');
  return { seconds: Number(time), signatures };
}

function malformed(what: string): InvalidSignature {
  return new InvalidSignature('malformed', `The Stripe-Signature header ${what}.`);
}

function checkAge(seconds: number, now: number, toleranceMs: number): void {
  const ageMs = (Math.floor(now / 1000) - seconds) * 1000;
  if (ageMs > toleranceMs) throw new InvalidSignature('too_old', 'The webhook was signed too long ago.');
  if (-ageMs > toleranceMs) throw new InvalidSignature('too_new', 'The webhook claims a time too far in the future.');
}

/**
 * The SDK decodes the body to text before it signs, so that a byte order mark is lost and a byte of no character becomes
 * another; the signature is therefore computed here, over the bytes as received (A1), and compared there. `verifyHeader`
 * is the half of `constructEvent` that judges; its other half parses, and a body that is no JSON may be signed well.
 */
function holds(body: Uint8Array, { seconds, signatures }: SignatureHeader, secret: string): boolean {
  const { signature } = Stripe.webhooks;
  if (signature === null) throw new InvalidSignature('mismatch', 'The stripe package cannot verify signatures here.');
  const header = [`t=${seconds}`, ...signatures.map((hex) => `v1=${hex}`)].join(',');
  try {
    // No tolerance: the age was judged above, on both sides.
    return signature.verifyHeader(body, header, secret, 0, new RawBytesCrypto(body, seconds));
  } catch {
    // Whatever is wrong with a signature, or with a configured secret that is blank, it does not hold.
    return false;
  }
}

class RawBytesCrypto extends Stripe.CryptoProvider {
  readonly #body: Uint8Array;
  readonly #seconds: number;

  constructor(body: Uint8Array, seconds: number) {
    super();
    this.#body = body;
    this.#seconds = seconds;
  }

  override computeHMACSignature(_decoded: string, secret: string): string {
    return createHmac('sha256', secret).update(`${this.#seconds}.`).update(this.#body).digest('hex');
  }
}

/** The event's own time in milliseconds: seconds, or ISO 8601 in a thin event. */
function readCreated(body: Uint8Array): number | null {
  const parsed = parseEventBody(body);
  return 'event' in parsed ? (readTime(parsed.event['created']) ?? null) : null;
}
