import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { admitEvent } from '../../src/domain/admit-event.ts';
import { cleanedJson, cleanedText, isStorableText, jsonDepth } from '../../src/domain/cleaned-text.ts';
import { derivedEventId } from '../../src/domain/derived-event-id.ts';
import type { EventReading } from '../../src/domain/event-reading.ts';

const READING: EventReading = {
  verdict: 'take',
  reason: null,
  eventId: 'evt_1',
  eventType: 'payment.captured',
  subject: 'payment',
  objectId: 'pay_1',
  paymentId: 'pay_1',
  orderId: 'ord_1',
  claimed: 'captured',
  amount: 1n,
  currency: 'EUR',
  fee: null,
  withheld: null,
  mode: 'test',
  occurredAt: 1_764_500_000_000,
  reference: null,
};
const sha256Hex = (text: string) => createHash('sha256').update(text).digest('hex');
const BODY_SHA256 = sha256Hex('body');

function admit(reading: Partial<EventReading> = {}, more: { isJson?: boolean; ignoreBefore?: number } = {}) {
  return admitEvent({
    reading: { ...READING, ...reading },
    sourceMode: 'test',
    isJson: true,
    bodySha256Hex: BODY_SHA256,
    ignoreBefore: null,
    sha256Hex,
    ...more,
  });
}

describe('an event without an id', () => {
  it('is named by the fact: type, object, status and the time the gateway gives', () => {
    expect(derivedEventId(READING, BODY_SHA256)).toBe('payment.captured:pay_1:captured:1764500000');
    expect(derivedEventId({ ...READING, occurredAt: 1_764_500_000_123 }, BODY_SHA256)).toBe(
      'payment.captured:pay_1:captured:1764500000.123',
    );
  });

  it('is named by its bytes where there is no time, and by its refund where it is about one', () => {
    expect(derivedEventId({ ...READING, objectId: 'rf:1', claimed: null, occurredAt: null }, BODY_SHA256)).toBe(
      `payment.captured:rf%3A1:-:${BODY_SHA256.slice(0, 16)}`,
    );
  });

  it('gets that id, also where it is an empty text', () => {
    expect(admit({ eventId: null }).eventId).toBe('payment.captured:pay_1:captured:1764500000');
    expect(admit({ eventId: '' }).eventId).toBe('payment.captured:pay_1:captured:1764500000');
  });
});

describe('what becomes of a verified event', () => {
  it('waits for its workflow if it is understood', () => {
    expect(admit()).toMatchObject({ state: 'pending', reason: null, eventId: 'evt_1', paymentId: 'pay_1' });
  });

  it.each([
    [{ mode: 'live' as const }, {}, 'live-mode event at a test source'],
    [{ mode: 'live' as const, verdict: 'hold' as const }, {}, 'live-mode event at a test source'],
    [{}, { ignoreBefore: 1_764_500_000_001 }, 'older than policies.ignore_before'],
    [{ verdict: 'ignore' as const, reason: 'unknown type' }, {}, 'unknown type'],
    [{ subject: 'payout' as const, paymentId: null, reference: 'theirs' }, {}, "gateway's own payout"],
  ])('it is ignored: %j %j', (reading, more, reason) => {
    expect(admit(reading, more)).toMatchObject({ state: 'ignored', reason });
  });

  it.each([
    [{ verdict: 'hold' as const, reason: 'no amount' }, {}],
    [{}, { isJson: false }],
    [{ paymentId: null }, {}],
    [{ paymentId: 'a b' }, {}],
    [{ paymentId: 'x'.repeat(201) }, {}],
    [{ orderId: 'ord\u00e9' }, {}],
    [{ eventId: 'evt\0' }, {}],
  ])('it is held for a person: %j %j', (reading, more) => {
    expect(admit(reading, more)).toMatchObject({ state: 'held', reason: expect.any(String) });
  });

  it.each([null, 'payout:s:2026-01-01'])('of a payout that may be ours it waits to be found: %s', (reference) => {
    expect(admit({ subject: 'payout', paymentId: null, reference })).toMatchObject({ state: 'pending', reason: null });
  });

  it('an event of exactly the moment from which on they count is taken', () => {
    expect(admit({}, { ignoreBefore: 1_764_500_000_000 }).state).toBe('pending');
  });

  it('can be stored, whatever a sender puts into it', () => {
    const odd = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 600 }),
      fc.constantFrom('\0', '\ud800', 'a\udc00b', '😊'.repeat(300)),
    );
    const maybe = fc.option(odd);
    fc.assert(
      fc.property(
        maybe,
        odd,
        maybe,
        maybe,
        maybe,
        maybe,
        fc.option(fc.double()),
        (eventId, eventType, objectId, paymentId, orderId, reference, occurredAt) => {
          const event = admit({ eventId, eventType, objectId, paymentId, orderId, reference, occurredAt });
          for (const text of [
            event.eventId,
            event.eventType,
            event.objectId,
            event.paymentId,
            event.orderId,
            event.reason,
          ]) {
            expect(isStorableText(text ?? '')).toBe(true);
          }
          expect(event.eventId.length).toBeGreaterThan(0);
          expect(event.eventId.length).toBeLessThanOrEqual(255);
          if (event.occurredAt !== null) expect(Number.isNaN(new Date(event.occurredAt).getTime())).toBe(false);
        },
      ),
    );
  });
});

describe('JSON as jsonb takes it', () => {
  it('holds no NUL and no half of a pair, and everything else as it was', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const json = JSON.stringify(value);
        const cleaned = cleanedJson(json);
        JSON.parse(cleaned, (name, member: unknown) => {
          expect(isStorableText(name) && (typeof member !== 'string' || isStorableText(member))).toBe(true);
          return member;
        });
        if (isStorableText(json) && !/\\u(0000|d[89a-f])/i.test(json)) expect(cleaned).toBe(json);
      }),
    );
  });

  it('keeps what only looks like an escape, and pairs in whatever spelling', () => {
    expect(cleanedJson(String.raw`"\\u0000 \uD83D\uDE0A \ud83d\ude0a \uD83D \u0000 \n"`)).toBe(
      String.raw`"\\u0000 \uD83D\uDE0A \ud83d\ude0a ${'\ufffd'} ${'\ufffd'} \n"`,
    );
    expect(cleanedText('😊\0\ud83d')).toBe('😊\ufffd\ufffd');
  });

  it('is as deep as its brackets outside of texts', () => {
    expect([
      jsonDepth('1'),
      jsonDepth('"[[["'),
      jsonDepth(String.raw`["\"[["]`),
      jsonDepth('{"a":[[]],"b":{}}'),
    ]).toEqual([0, 0, 1, 3]);
    expect(jsonDepth('['.repeat(1_000_000))).toBe(1_000_000);
  });
});
