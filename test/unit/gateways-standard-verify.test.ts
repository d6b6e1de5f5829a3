import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { InvalidSignature } from '../../src/domain/gateway-error.ts';
import type { WebhookSecret } from '../../src/domain/source-config.ts';
import type { WebhookHeaders, WebhookToVerify } from '../../src/gateways/gateway.ts';
import { createStandardGateway } from '../../src/gateways/standard/create-standard-gateway.ts';
import { OTHER_SECRET, WEBHOOK_SECRET, signedWebhook } from '../support/standard-webhook.ts';

const NOW = Date.parse('2026-11-30T12:00:00Z');
const TOLERANCE_MS = 300_000;
const BODY = '{"type":"payment.captured","data":{"payment_id":"pay_1"}}';

function gateway(...webhookSecrets: WebhookSecret[]) {
  return createStandardGateway(
    {
      name: 'shop',
      kind: 'standard',
      mode: 'test',
      apiBase: 'http://127.0.0.1:1',
      apiKey: 'key',
      accountNumber: null,
      webhookSecrets,
    },
    { toleranceMs: TOLERANCE_MS },
  );
}

const plain = gateway({ secret: WEBHOOK_SECRET, eventsBefore: null });

/** The reason of the refusal; null where the signature holds. Anything else that is thrown fails the test. */
function refusal(webhook: WebhookToVerify, by = plain): string | null {
  try {
    by.verify(webhook);
    return null;
  } catch (error) {
    if (error instanceof InvalidSignature) return error.reason;
    throw error;
  }
}

function withHeaders(headers: WebhookHeaders): WebhookToVerify {
  const webhook = signedWebhook(BODY, { at: NOW });
  return { ...webhook, headers: { ...webhook.headers, ...headers } };
}

describe('a signature is accepted', () => {
  it('when the official library made it', () => {
    const signature = new Webhook(WEBHOOK_SECRET).sign('evt_1', new Date(NOW), BODY);
    expect(refusal(withHeaders({ 'webhook-signature': signature }))).toBeNull();
  });

  it.each([
    ['an emoji and accents', Buffer.from('{"name":"😊 ñ é"}')],
    ['a byte order mark', Buffer.from('\ufeff{}')],
    ['an invalid byte', Buffer.from([0x7b, 0xff, 0x7d])],
    ['half of a surrogate pair', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['a NUL', Buffer.from('{"a":"\0"}')],
    ['nothing', Buffer.alloc(0)],
    ['a megabyte', Buffer.alloc(1 << 20, 'ñ')],
  ])('over bytes that hold %s', (_what, body) => {
    expect(refusal(signedWebhook(body, { at: NOW }))).toBeNull();
  });

  it('whatever the bytes are, and refused when one of them is changed', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 300 }),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (body, at, change) => {
          const webhook = signedWebhook(body, { at: NOW });
          expect(refusal(webhook)).toBeNull();
          const forged = Uint8Array.from(webhook.body);
          forged[at % forged.length] = (forged[at % forged.length] ?? 0) ^ change;
          expect(refusal({ ...webhook, body: forged })).toBe('mismatch');
        },
      ),
    );
  });

  it('by a view into a larger buffer, without its neighbours', () => {
    const webhook = signedWebhook(BODY, { at: NOW });
    const larger = new Uint8Array(Buffer.concat([Buffer.from('before'), Buffer.from(BODY), Buffer.from('after')]));
    expect(refusal({ ...webhook, body: larger.subarray(6, 6 + BODY.length) })).toBeNull();
  });

  it('when one of several signatures in the header holds', () => {
    const good = signedWebhook(BODY, { at: NOW }).headers['webhook-signature'] as string;
    const bad = signedWebhook(BODY, { at: NOW, secret: OTHER_SECRET }).headers['webhook-signature'] as string;
    expect(refusal(withHeaders({ 'webhook-signature': `${bad} v1a,AAAA ${good}` }))).toBeNull();
  });

  it('when its id holds bytes beyond ASCII', () => {
    const signed = signedWebhook(BODY, { at: NOW, id: 'evt_ñ' });
    const asNodeGivesIt = Buffer.from('evt_ñ').toString('latin1');
    expect(refusal({ ...signed, headers: { ...signed.headers, 'webhook-id': asNodeGivesIt } })).toBeNull();
  });
});

describe('two bodies never share a signature', () => {
  it('although both have an invalid byte in the same place', () => {
    const webhook = signedWebhook(Buffer.from([0x7b, 0xff, 0x7d]), { at: NOW });
    expect(refusal({ ...webhook, body: Buffer.from([0x7b, 0xfe, 0x7d]) })).toBe('mismatch');
  });

  it('although one has the replacement character where the other has an invalid byte', () => {
    const webhook = signedWebhook('{"a":"\ufffd"}', { at: NOW });
    const forged = Buffer.from([...Buffer.from('{"a":"'), 0xff, ...Buffer.from('"}')]);
    expect(refusal({ ...webhook, body: forged })).toBe('mismatch');
  });
});

describe('the age of a webhook', () => {
  it.each([
    [0, null],
    [TOLERANCE_MS, null],
    [TOLERANCE_MS + 1000, 'too_old'],
    [365 * 24 * 3_600_000, 'too_old'],
    [-TOLERANCE_MS, null],
    [-TOLERANCE_MS - 1000, 'too_new'],
    [-365 * 24 * 3_600_000, 'too_new'],
  ])('of %i ms gives %s', (age, reason) => {
    expect(refusal(signedWebhook(BODY, { at: NOW - age, now: NOW }))).toBe(reason);
  });
});

describe('a bad header is refused and never crashes', () => {
  const good = signedWebhook(BODY, { at: NOW }).headers['webhook-signature'] as string;
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

  it.each(names)('%s missing, empty, or in an array', (name) => {
    expect(refusal(withHeaders({ [name]: undefined }))).toBe('missing');
    expect(refusal(withHeaders({ [name]: '' }))).toBe('missing');
    expect(refusal(withHeaders({ [name]: [] }))).toBe('missing');
    expect(refusal(withHeaders({ [name]: ['1', '2'] }))).toBe('malformed');
  });

  it.each([
    ['of another length', 'v1,AAAA', 'mismatch'],
    ['of the right length', good.replace(/.{3}=$/, 'AAA='), 'mismatch'],
    ['cut off', good.slice(0, -1), 'mismatch'],
    ['empty', 'v1,', 'mismatch'],
    ['of another version', good.replace('v1', 'v2'), 'malformed'],
    ['without its version', good.slice(3), 'malformed'],
    ['of odd bytes', 'v1,\u00ff\u0080\u0000', 'mismatch'],
    ['of 100 KB', `v1,${'A'.repeat(100_000)}`, 'mismatch'],
    ['of 30,000 entries', 'v1,A '.repeat(30_000), 'mismatch'],
    ['sent twice', `${good}, ${good}`, 'malformed'],
  ])('a signature %s', (_what, signature, reason) => {
    expect(refusal(withHeaders({ 'webhook-signature': signature }))).toBe(reason);
  });

  it.each([
    'soon',
    '1e9',
    '-1',
    ' 1',
    '1 ',
    '0x10',
    '01',
    `${NOW / 1000}.0`,
    `${NOW / 1000}abc`,
    '9'.repeat(1_000),
    '\u0000',
  ])('a timestamp of %j', (timestamp) => {
    expect(refusal(withHeaders({ 'webhook-timestamp': timestamp }))).toBe('malformed');
  });

  it('an id that was sent twice', () => {
    expect(refusal(withHeaders({ 'webhook-id': 'evt_1, evt_1' }))).toBe('mismatch');
  });

  it('whatever a sender puts there', () => {
    const header = fc.option(
      fc.oneof(fc.string({ unit: 'binary' }), fc.array(fc.string()), fc.constantFrom('v1,', String(NOW / 1000))),
      {
        nil: undefined,
      },
    );
    fc.assert(
      fc.property(header, header, header, fc.uint8Array(), (id, timestamp, signature, body) => {
        const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
        expect(refusal({ body, headers, now: NOW })).not.toBeNull();
      }),
    );
  });
});

describe('several secrets', () => {
  const change = NOW - 3_600_000;
  const rotating = gateway(
    { secret: WEBHOOK_SECRET, eventsBefore: null },
    { secret: OTHER_SECRET, eventsBefore: change },
  );
  const event = (timestamp: unknown): string => JSON.stringify({ type: 'payment.captured', timestamp, data: {} });
  const iso = (ms: number): string => new Date(ms).toISOString();

  it.each([
    ['the new one for an old event', WEBHOOK_SECRET, iso(change - 1000), null],
    ['the new one for a new event', WEBHOOK_SECRET, iso(NOW), null],
    ['the old one for an event before the change', OTHER_SECRET, iso(change - 1000), null],
    ['the old one for an event at the change', OTHER_SECRET, iso(change), 'mismatch'],
    ['the old one for a new event', OTHER_SECRET, iso(NOW), 'mismatch'],
    ['the old one for an event in seconds before the change', OTHER_SECRET, change / 1000 - 1, null],
    ['the old one for an event without a time, by its header', OTHER_SECRET, undefined, 'mismatch'],
  ])('%s', (_what, secret, timestamp, reason) => {
    expect(refusal(signedWebhook(event(timestamp), { at: NOW, secret }), rotating)).toBe(reason);
  });

  it('none at all refuses everything', () => {
    expect(refusal(signedWebhook(BODY, { at: NOW }), gateway())).toBe('mismatch');
  });

  it('a secret that is none is a mistake at once', () => {
    expect(() => gateway({ secret: 'whsec_', eventsBefore: null })).toThrow();
    expect(() => gateway({ secret: 'whsec_not base64!', eventsBefore: null })).toThrow();
  });
});
