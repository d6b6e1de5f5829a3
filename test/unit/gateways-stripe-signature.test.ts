import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { InvalidSignature } from '../../src/domain/gateway-error.ts';
import type { WebhookSecret } from '../../src/domain/source-config.ts';
import type { WebhookHeaders } from '../../src/gateways/gateway.ts';
import { createStripeVerifier } from '../../src/gateways/stripe/verify-webhook.ts';

const SECRET = 'whsec_first';
const NOW = 1_764_500_000_000;
const SECONDS = NOW / 1000;
const TOLERANCE_MS = 300_000;
const BODY = Buffer.from('{"id":"evt_1","type":"payment_intent.succeeded"}');

function sign(body: Uint8Array, { secret = SECRET, seconds = SECONDS } = {}): string {
  return createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex');
}

function header(body: Uint8Array, { secret = SECRET, seconds = SECONDS } = {}): string {
  return `t=${seconds},v1=${sign(body, { secret, seconds })}`;
}

function refusal(
  headers: WebhookHeaders,
  body: Uint8Array = BODY,
  secrets: WebhookSecret[] = always(SECRET),
): string | null {
  try {
    createStripeVerifier(secrets, TOLERANCE_MS)({ body, headers, now: NOW });
    return null;
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidSignature);
    return (error as InvalidSignature).reason;
  }
}

function always(...secrets: string[]): WebhookSecret[] {
  return secrets.map((secret) => ({ secret, eventsBefore: null }));
}

describe('a Stripe signature', () => {
  it('holds where another implementation of HMAC computed it, with the secret as it is', () => {
    const body = Buffer.from('{"id":"evt_known","type":"payment_intent.succeeded"}');
    const known = 'a1eec2b367820b85274a68ace0d5a24f75ba3c3321345a45b710fc69a1dc435d';
    expect(refusal({ 'stripe-signature': `t=1764500000,v1=${known}` }, body, always('whsec_known_answer'))).toBeNull();
  });

  it.each([
    ['emoji', Buffer.from('{"name":"😊"}')],
    ['an accent', Buffer.from('{"name":"ñ"}')],
    ['a byte order mark', Buffer.from('\ufeff{}')],
    ['a byte of no character', Buffer.from([0x7b, 0xff, 0x7d])],
    ['nothing at all', Buffer.alloc(0)],
    ['no JSON', Buffer.from('hello')],
    ['a thin event', Buffer.from('{"object":"v2.core.event"}')],
  ])('covers the bytes as received: %s', (_name, body) => {
    expect(refusal({ 'stripe-signature': header(body) }, body)).toBeNull();
  });

  it('does not hold for bytes that only decode to the same text', () => {
    const signed = Buffer.from([0x7b, 0xff, 0x7d]);
    const other = Buffer.from([0x7b, 0xfe, 0x7d]);
    expect(refusal({ 'stripe-signature': header(signed) }, other)).toBe('mismatch');
    expect(refusal({ 'stripe-signature': header(Buffer.from('{}')) }, Buffer.from('\ufeff{}'))).toBe('mismatch');
  });

  it('is refused on both sides of the tolerance, and taken at its edges', () => {
    const at = (seconds: number) => refusal({ 'stripe-signature': header(BODY, { seconds }) });
    expect([at(SECONDS - 300), at(SECONDS + 300)]).toEqual([null, null]);
    expect(at(SECONDS - 301)).toBe('too_old');
    expect(at(SECONDS + 301)).toBe('too_new');
    expect(at(SECONDS + 10 * 365 * 86_400)).toBe('too_new');
  });

  it('may be one of several while a secret is rolled; versions other than v1 are nothing', () => {
    const wrong = 'a'.repeat(64);
    expect(refusal({ 'stripe-signature': `t=${SECONDS},v1=${wrong},v1=${sign(BODY)}` })).toBeNull();
    expect(refusal({ 'stripe-signature': `t=${SECONDS},v0=${sign(BODY)}` })).toBe('malformed');
    expect(refusal({ 'stripe-signature': `t=${SECONDS},v0=${wrong},v1=${sign(BODY)}` })).toBeNull();
  });

  it.each<[string, string | string[] | undefined, string]>([
    ['missing', undefined, 'missing'],
    ['empty', '', 'missing'],
    ['an empty list', [], 'missing'],
    ['twice, as a list', [header(BODY), header(BODY)], 'malformed'],
    ['twice, as node joins it', `${header(BODY)}, ${header(BODY)}`, 'malformed'],
    ['without a time', `v1=${sign(BODY)}`, 'malformed'],
    ['with a time that is none', `t=now,v1=${sign(BODY)}`, 'malformed'],
    ['with a time of another body', `t=${SECONDS - 1},v1=${sign(BODY)}`, 'mismatch'],
    ['without a signature', `t=${SECONDS}`, 'malformed'],
    ['with an empty signature', `t=${SECONDS},v1=`, 'malformed'],
    ['with a bare v1', `t=${SECONDS},v1`, 'malformed'],
    ['too short', `t=${SECONDS},v1=${sign(BODY).slice(1)}`, 'malformed'],
    ['bad hex', `t=${SECONDS},v1=${'z'.repeat(64)}`, 'malformed'],
    ['an odd byte', `t=${SECONDS},v1=${'é'.repeat(64)}`, 'malformed'],
    ['100 KB', `t=${SECONDS},v1=${'a'.repeat(100_000)}`, 'malformed'],
    ['a thousand signatures', `t=${SECONDS}${`,v1=${'a'.repeat(64)}`.repeat(25)}`, 'malformed'],
    ['garbage', '\u0000\u0001=,,,=', 'malformed'],
    ['of another secret', header(BODY, { secret: 'whsec_other' }), 'mismatch'],
  ])('in a header that is %s is refused, and nothing else is thrown', (_name, value, reason) => {
    expect(refusal({ 'stripe-signature': value })).toBe(reason);
  });

  it('is never made with a blank secret', () => {
    expect(refusal({ 'stripe-signature': header(BODY, { secret: '' }) }, BODY, always(''))).toBe('mismatch');
  });

  it('of an older secret holds for the events before its day only, by the time of the event', () => {
    const secrets = [...always('whsec_new'), { secret: 'whsec_old', eventsBefore: NOW - 60_000 }];
    const event = (created: unknown) => Buffer.from(JSON.stringify({ id: 'evt_1', created }));
    const with_ = (secret: string, body: Buffer) =>
      refusal({ 'stripe-signature': header(body, { secret }) }, body, secrets);
    expect(with_('whsec_old', event(SECONDS - 61))).toBeNull();
    expect(with_('whsec_old', event(SECONDS - 60))).toBe('mismatch');
    expect(with_('whsec_old', event(undefined))).toBe('mismatch');
    expect(with_('whsec_new', event(SECONDS - 61))).toBeNull();
    expect(with_('whsec_new', event(SECONDS))).toBeNull();
  });
});
